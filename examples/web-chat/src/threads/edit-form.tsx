import type { StoreMessage } from 'chat-server/client/store'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { isSend } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'

const Completion = lazy(() => import('../compose/completion.tsx').then(({ Completion }) => Completion))

/** Changes the text of a message in its place. Enter saves, Escape leaves it as it was. */
export function EditForm({
  message: { id, content, conversation_id },
  onDone,
}: {
  message: StoreMessage
  onDone: () => void
}) {
  const { client } = useApp()
  const { composer, save, cancel } = texts.value
  const field = useRef<HTMLTextAreaElement>(null)
  const { run, isRunning, error } = useAction(async () => {
    const text = field.current!.value.trim()
    if (text !== '' && text !== content) await client.messages.edit(id, { content: text })
    onDone()
  })
  useLayoutEffect(() => {
    const { current } = field
    current?.focus()
    current?.setSelectionRange(content.length, content.length)
  }, [])
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <Completion field={field} conversation_id={conversation_id} onAssistant={undefined} />
      <textarea
        aria-autocomplete="list"
        ref={field}
        dir="auto"
        aria-label={composer.label}
        defaultValue={content}
        rows={Math.min(12, content.split('\n').length + 1)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone()
          if (!isSend(event)) return
          event.preventDefault()
          void run()
        }}
      />
      <ErrorNote error={error} />
      <button type="submit" class="primary" disabled={isRunning}>
        {save}
      </button>
      <button type="button" onClick={onDone}>
        {cancel}
      </button>
    </form>
  )
}
