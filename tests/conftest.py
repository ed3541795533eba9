"""For every test: properties are judged by what they find, not by how busy the machine is."""

from hypothesis import settings

settings.register_profile("teenybuild", deadline=None, print_blob=True)
settings.load_profile("teenybuild")
