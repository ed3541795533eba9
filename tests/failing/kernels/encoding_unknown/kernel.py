# -*- coding: klingon -*-
import triton
