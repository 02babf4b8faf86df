"""A chat model that gives scripted replies."""

from calibrag.models.chat.seam import ChatUsage, Reply


class ScriptedChat:
    """Gives scripted replies, one a request; an exception among them is raised."""

    name, revision, host = "scripted", "1", None

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, Exception):
            raise reply
        usage = ChatUsage(prompt_tokens=1, completion_tokens=1)
        return Reply(text=reply, finish_reason="stop", usage=usage, seconds=0)

    async def close(self):
        pass
