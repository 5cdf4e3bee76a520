"""When2Call: knowing when to call a tool, when to ask, when to say that it cannot be done, when just to answer."""
