import { useMemo } from 'react'
import type { Attachment, PostedMessage } from '../../api/client-entities.ts'
import type { ConversationOptions, MessagesView, MessageWindow } from '../store/index.ts'
import { useChatStore } from './context.ts'
import { useReadable } from './readable.ts'

/** What a post in a conversation has besides its text. */
export interface WindowPostOptions {
  /** The message of a thread that is answered. Default: the root, in a thread. */
  parent_id?: string
  /** The title of the thread that the post begins, where it is no reply. */
  title?: string
  /** With `assistant`, the assistant answers. */
  role?: 'user' | 'assistant'
  /** Files that were uploaded before; with one, the text may be empty. */
  attachments?: Attachment[]
  /** A message of the conversation that it quotes. */
  quote_id?: string
  /** An answer with the same parent, of which a question asks for a variant. */
  variant_of?: string
}

/** What a user does with messages by arrival. */
export interface WindowActions
  extends Pick<MessageWindow, 'loadOlder' | 'loadNewer' | 'jumpTo' | 'reload' | 'markRead' | 'markUnread'> {
  /**
   * Posts, and shows the post at once, at the end.
   *
   * @returns the stored post, or `undefined` after a failure: then the message stays, with `pending.status: 'failed'`
   */
  post: (content: string, options?: WindowPostOptions) => Promise<PostedMessage | undefined>
  /** Sends a failed post again. @param key `message.pending.key` */
  retry: (key: string) => Promise<PostedMessage | undefined>
  /** Removes a failed post. @param key `message.pending.key` */
  discard: (key: string) => void
}

/** The messages of a conversation by arrival, newest last: the first ones of threads, or all. */
export function useConversation(conversation_id: string, options?: ConversationOptions): MessagesView & WindowActions {
  const store = useChatStore()
  const part = store.conversation(conversation_id, options)
  return useWindow(part, (content, more) => {
    const parent = part.getSnapshot().messages.find(({ id }) => id === more?.parent_id)
    return store.post({ ...more, root_id: parent?.root_id, conversation_id, content })
  })
}

/** The replies of a thread by arrival, newest last, with its `root`. */
export function useReplies(root_id: string): MessagesView & WindowActions {
  const store = useChatStore()
  const replies = store.replies(root_id)
  return useWindow(replies, async (content, { parent_id = root_id, ...more } = {}) => {
    const { root } = replies.getSnapshot()
    if (!root) throw new Error('The thread is not read yet: reply when its status is "ready"')
    return store.post({ ...more, conversation_id: root.conversation_id, root_id, parent_id, content })
  })
}

function useWindow(part: MessageWindow, post: WindowActions['post']): MessagesView & WindowActions {
  const { retry, discard } = useChatStore()
  const view = useReadable(part)
  return useMemo(() => {
    const { loadOlder, loadNewer, jumpTo, reload, markRead, markUnread } = part
    return { ...view, loadOlder, loadNewer, jumpTo, reload, markRead, markUnread, post, retry, discard }
  }, [view, part, retry, discard])
}
