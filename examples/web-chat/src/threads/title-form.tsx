import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

/** The longest title, in characters. */
const MAX_LENGTH = 200

interface TitleFormProps {
  root_id: string
  title: string | undefined
  onDone: () => void
}

/** Changes the title of a thread in its place. Enter saves, Escape leaves it as it was; an empty one is removed. */
export function TitleForm({ root_id, title = '', onDone }: TitleFormProps) {
  const { client } = useApp()
  const field = useRef<HTMLInputElement>(null)
  const { run, isRunning, error } = useAction(async () => {
    const next = field.current!.value.trim()
    if (next !== title) await client.threads.setTitle(root_id, { title: next })
    onDone()
  })
  useLayoutEffect(() => field.current!.select(), [])
  return (
    <form
      class="edit title-form"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <input
        ref={field}
        id="thread-title"
        aria-label={roomTexts.value.thread.title}
        dir="auto"
        maxLength={MAX_LENGTH}
        defaultValue={title}
        onKeyDown={(event) => event.key === 'Escape' && onDone()}
      />
      <IconButton type="submit" icon="check" label={texts.value.save} disabled={isRunning} />
      <IconButton icon="close" label={texts.value.cancel} onClick={onDone} />
      <ErrorNote error={error} />
    </form>
  )
}
