"""The former name of :mod:`ssdlab.ldpc`; an import names the new one."""

raise ImportError("ssdlab.codes is now ssdlab.ldpc")
