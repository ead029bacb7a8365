import type { Message } from 'chat-server/client'
import type { VNode } from 'preact'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { texts } from '../texts/texts.ts'

type Part = NonNullable<Message['parts']>[number]

interface WholePartProps<Shown> {
  message_id: string
  part: Shown
  children: (part: Shown) => VNode | null
}

/** A part with its long values, which lists of messages leave out: they are read when it is opened. */
export function WholePart<Shown extends Part & { cut?: number }>(props: WholePartProps<Shown>) {
  return props.part.cut === undefined ? props.children(props.part) : <ReadPart {...props} />
}

function ReadPart<Shown extends Part>({ message_id, part, children }: WholePartProps<Shown>) {
  const { client } = useApp()
  const { value, error, reload } = useLoad((signal) => client.messages.get(message_id, { signal }), [message_id])
  if (error) return <ErrorNote error={error} onRetry={reload} />
  if (!value) return <p class="note">{texts.value.loading}</p>
  // An answer that was edited or deleted in the meantime has no parts any more.
  return children((value.parts?.find(({ id }) => id === part.id) as Shown | undefined) ?? part)
}
