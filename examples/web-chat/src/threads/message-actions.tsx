import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { texts } from '../texts/texts.ts'
import type { MessageProps } from './message.tsx'
import { ReactionMenu } from './reactions.tsx'

/** What the user may do with a message: shown beside it, or where there is no pointer behind one button. */
export function MessageActions({
  message,
  user_id,
  role,
  canWrite,
  onReply,
  onEdit,
}: MessageProps & { onEdit: () => void }) {
  const [isRemoving, setRemoving] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const { messages } = texts.value
  if (!canWrite || message.deleted_at) return null
  const isOwn = message.author_user_id === user_id
  const mayRemove = isOwn || message.requested_by === user_id || role === 'owner' || role === 'admin'
  const isComplete = message.status !== 'streaming'
  return (
    <div class="actions" data-open={isOpen}>
      <IconButton
        icon="more"
        label={messages.more}
        class="icon-button more"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      <ReactionMenu message={message} />
      {isComplete && <IconButton icon="reply" label={messages.reply} onClick={() => onReply(message)} />}
      {isOwn && message.role === 'user' && <IconButton icon="edit" label={messages.edit} onClick={onEdit} />}
      {mayRemove && isComplete && <IconButton icon="trash" label={messages.remove} onClick={() => setRemoving(true)} />}
      {isRemoving && <RemoveDialog id={message.id} onClose={() => setRemoving(false)} />}
    </div>
  )
}

function RemoveDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { client } = useApp()
  const { messages, cancel } = texts.value
  const { run, isRunning, error } = useAction(async () => {
    await client.messages.remove(id)
    onClose()
  })
  return (
    <Dialog title={messages.remove_title} onClose={onClose}>
      <p>{messages.remove_text}</p>
      <ErrorNote error={error} />
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {cancel}
        </button>
        <button type="button" class="danger" disabled={isRunning} onClick={() => void run()}>
          {messages.remove}
        </button>
      </p>
    </Dialog>
  )
}
