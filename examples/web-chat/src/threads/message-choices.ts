import { useApp } from '../app/context.ts'
import { linkTo } from '../app/route.ts'
import { mayWrite } from '../conversations/use-can.ts'
import { copyText } from '../parts/copy-text.ts'
import { messageOf } from '../parts/error-note.tsx'
import type { IconName } from '../parts/icon.tsx'
import { showToast } from '../parts/toast.tsx'
import { shownProfile } from '../people/shown-profile.ts'
import { texts } from '../texts/texts.ts'
import { askAgain } from './ask-again.ts'
import { isRunning } from './is-running.ts'
import type { ArticleProps } from './message.tsx'
import { rate, ratingOf } from './rating.ts'
import { selectText } from './select-text.ts'

/** An entry of the menu of a message. */
export interface MessageChoice {
  /** Of a key of messages, where one does it. */
  name: string
  icon: IconName
  text: string
  /** Whether there is a button for it beside the message, where there is a pointer. */
  isAtHand?: boolean
  /** Whether it is only for a finger. */
  isForTouch?: boolean
  act: () => void
}

/** What the user may do with a message. */
export function useMessageChoices(
  { message, user_id, can, isFrozen, hasReceipts, onReply, onThread, onEdit, onUnread }: ArticleProps,
  open: (dialog: 'remove' | 'readers') => void,
): MessageChoice[] {
  const { client, store } = useApp()
  const { messages } = texts.value
  const { id, pinned, root_id, conversation_id } = message
  const isOwn = message.author_user_id === user_id
  const author = message.author_user_id ?? message.requested_by
  const isComplete = !isRunning(message)
  // What is one's own is taken back where one may no longer write, but where it is frozen.
  const mayRemove = can.has('moderate') || ((isOwn || message.requested_by === user_id) && !isFrozen)
  const attempt = (act: () => Promise<unknown>) => () =>
    void act().catch((error: unknown) => showToast(messageOf(error), { isError: true }))

  async function copyLink(): Promise<void> {
    const place = onThread ? { name: 'conversation' as const } : { name: 'thread' as const, root_id }
    await copy(linkTo({ ...place, conversation_id, message_id: id }))
  }

  async function copy(text: string): Promise<void> {
    const isCopied = await copyText(text)
    const { copied, not_copied } = texts.value.copying
    showToast(isCopied ? copied : not_copied, { isError: !isCopied })
  }

  const rating = ratingOf(message)
  const mayRate = message.role === 'assistant' && isComplete && !isFrozen
  const choices: (MessageChoice | false)[] = [
    can.has('reply') &&
      isComplete && { name: 'reply', icon: 'reply', text: messages.reply, isAtHand: true, act: () => onReply(message) },
    onThread !== undefined && {
      name: 'thread',
      icon: 'chat',
      text: can.has('reply') ? messages.thread : messages.open_thread,
      isAtHand: true,
      act: () => onThread(message),
    },
    message.content !== '' && {
      name: 'copy',
      icon: 'copy',
      text: messages.copy_text,
      act: attempt(() => copy(message.content)),
    },
    message.content !== '' && {
      name: 'select',
      icon: 'file',
      text: messages.select_text,
      isForTouch: true,
      act: selectText,
    },
    { name: 'link', icon: 'link', text: messages.copy_link, act: attempt(copyLink) },
    mayWrite(can) &&
      isOwn &&
      message.role === 'user' && { name: 'edit', icon: 'edit', text: messages.edit, act: () => onEdit(id) },
    can.has('ask') &&
      isComplete &&
      message.role === 'assistant' && {
        name: 'again',
        icon: 'again',
        text: messages.ask_again,
        act: attempt(() => askAgain(store, message, onThread === undefined)),
      },
    mayRate && {
      name: 'good',
      icon: 'good',
      text: rating === 'up' ? messages.take_back_good : messages.good_answer,
      act: attempt(() => rate(client, message, 'up')),
    },
    mayRate && {
      name: 'poor',
      icon: 'poor',
      text: rating === 'down' ? messages.take_back_poor : messages.poor_answer,
      act: attempt(() => rate(client, message, 'down')),
    },
    onUnread !== undefined && {
      name: 'unread',
      icon: 'bell',
      text: messages.unread,
      act: attempt(() => onUnread(id)),
    },
    can.has('pin') && {
      name: 'pin',
      icon: 'pin',
      text: pinned ? messages.unpin : messages.pin,
      act: attempt(() => (pinned ? store.unpin(id) : store.pin(id))),
    },
    hasReceipts && { name: 'readers', icon: 'eye', text: messages.readers, act: () => open('readers') },
    author !== undefined && {
      name: 'profile',
      icon: 'people',
      text: messages.profile,
      act: () => {
        shownProfile.value = { user_id: author, conversation_id }
      },
    },
    mayRemove && isComplete && { name: 'remove', icon: 'trash', text: messages.remove, act: () => open('remove') },
  ]
  return choices.filter((choice) => choice !== false)
}
