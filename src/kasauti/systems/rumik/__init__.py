"""rumik-oss-1 and every checkpoint of its layout: a cohere2 decoder that speaks in tokens of the Mimi codec."""
