import type { StoreMessage } from 'chat-server/client/store'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { isSend } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'

const Completion = lazy(() => import('../compose/completion.tsx').then(({ Completion }) => Completion))

interface EditFormProps {
  message: StoreMessage
  onDone: () => void
}

/** Changes the text of a message in its place. */
export function EditForm({ message: { id, content, conversation_id }, onDone }: EditFormProps) {
  const { client } = useApp()
  const save = async (text: string) => {
    if (text !== '' && text !== content) await client.messages.edit(id, { content: text })
    onDone()
  }
  return (
    <TextForm
      text={content}
      conversation_id={conversation_id}
      button={texts.value.save}
      onSave={save}
      onCancel={onDone}
    />
  )
}

interface TextFormProps {
  text: string
  conversation_id: string
  button: string
  onSave: (text: string) => Promise<void>
  onCancel: () => void
}

/** A text in its place, to be changed. Enter saves, Escape leaves it as it was. */
export function TextForm({ text, conversation_id, button, onSave, onCancel }: TextFormProps) {
  const { composer, cancel } = texts.value
  const field = useRef<HTMLTextAreaElement>(null)
  const { run, isRunning, error } = useAction(() => onSave(field.current!.value.trim()))
  useLayoutEffect(() => {
    const current = field.current!
    const opener = document.activeElement
    current.focus()
    current.setSelectionRange(text.length, text.length)
    return () => {
      const hasFocus = current.form!.contains(document.activeElement)
      if (hasFocus && opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <Completion field={field} conversation_id={conversation_id} />
      <textarea
        aria-autocomplete="list"
        ref={field}
        dir="auto"
        aria-label={composer.label}
        defaultValue={text}
        rows={Math.min(12, text.split('\n').length + 1)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (!isSend(event)) return
          event.preventDefault()
          void run()
        }}
      />
      <ErrorNote error={error} />
      <button type="submit" class="primary" disabled={isRunning}>
        {button}
      </button>
      <button type="button" onClick={onCancel}>
        {cancel}
      </button>
    </form>
  )
}
