import type { MessagesView, MessageWindow, TimelineStoreMessage } from 'chat-server/client/store'

type Root = NonNullable<MessagesView['root']>

/** The replies of a thread, with its first message before them: the window begins with it once that end is read. */
export function withRoot(part: MessageWindow): MessageWindow {
  const views = new WeakMap<MessagesView, MessagesView>()
  const roots = new WeakMap<Root, TimelineStoreMessage>()

  function whole(view: MessagesView): MessagesView {
    const { root, has_older, messages } = view
    if (!root || has_older) return view
    const known = views.get(view)
    if (known) return known
    const first = roots.get(root) ?? withoutThread(root)
    roots.set(root, first)
    const next = { ...view, messages: [first, ...messages] }
    views.set(view, next)
    return next
  }

  return {
    ...part,
    getSnapshot: () => whole(part.getSnapshot()),
    getServerSnapshot: () => whole(part.getServerSnapshot()),
  }
}

/** Its title and its replies are shown around it. */
function withoutThread({ thread: _, ...root }: Root): TimelineStoreMessage {
  return root
}
