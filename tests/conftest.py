"""For every test: properties are judged by what they find, not by how busy the machine is."""

from hypothesis import settings

settings.register_profile("teenybuild", deadline=None, print_blob=True)
#: ``--hypothesis-profile=long``: more examples of what leaves their number to the profile.
settings.register_profile("long", deadline=None, print_blob=True, max_examples=5000)
settings.load_profile("teenybuild")
