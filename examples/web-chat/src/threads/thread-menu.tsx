import type { MessagesView } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { linkTo } from '../app/route.ts'
import { copyText } from '../parts/copy-text.ts'
import { messageOf } from '../parts/error-note.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { showToast } from '../parts/toast.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

interface ThreadMenuProps {
  root: NonNullable<MessagesView['root']>
  /** Whether the user reads it without participating. */
  isOutside: boolean
  isTree: boolean
  onTree: () => void
  /** Closes the thread. */
  onClose: () => void
}

/** What can be done with a thread. */
export function ThreadMenu({ root, isOutside, isTree, onTree, onClose }: ThreadMenuProps) {
  const { client, store } = useApp()
  const { id: root_id, conversation_id, thread } = root
  const words = roomTexts.value.thread

  async function copyLink(): Promise<void> {
    const isCopied = await copyText(linkTo({ name: 'thread', conversation_id, root_id }))
    const { copied, not_copied } = texts.value.copying
    showToast(isCopied ? copied : not_copied, { isError: !isCopied })
  }

  /** While it is open, what is in view would be read again. */
  async function markUnread(): Promise<void> {
    await store.replies(root_id).markUnread(root_id)
    onClose()
  }

  const follow = thread?.following
    ? { icon: 'muted' as const, text: words.unfollow, act: () => client.threads.unfollow(root_id) }
    : { icon: 'bell' as const, text: words.follow, act: () => client.threads.follow(root_id) }
  const choices: { icon: IconName; text: string; act: () => Promise<void> }[] = [
    ...(isOutside ? [] : [follow, { icon: 'eye' as const, text: words.mark_unread, act: markUnread }]),
    { icon: 'link', text: words.copy_link, act: copyLink },
  ]
  return (
    <Menu label={texts.value.messages.more} button={<Icon name="more" />}>
      {(close) => (
        <>
          {choices.map(({ icon, text, act }) => (
            <button
              key={text}
              type="button"
              onClick={() => {
                close()
                act().catch((error: unknown) => showToast(messageOf(error), { isError: true }))
              }}
            >
              <Icon name={icon} />
              {text}
            </button>
          ))}
          <button
            type="button"
            aria-pressed={isTree}
            onClick={() => {
              close()
              onTree()
            }}
          >
            <Icon name={isTree ? 'check' : 'chat'} />
            {words.as_tree}
          </button>
        </>
      )}
    </Menu>
  )
}
