import type { Conversation } from 'chat-server/client'
import { useId } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { TextArea } from '../parts/text-area.tsx'
import { showToast } from '../parts/toast.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { AllowedAssistants } from './allowed-assistants.tsx'
import type { TabProps } from './pane.tsx'

/** The name of the field, as the service names what is wrong with it. */
const PROMPT = 'assistant.prompt'

/** The longest prompt, in bytes. */
const MAX_PROMPT = 8_192

/** Which assistant answers in a conversation and what it is told there, which those who look after it change. */
export function RoomAssistant({ conversation }: Pick<TabProps, 'conversation'>) {
  const { client, people } = useApp()
  const { id, can, assistant } = conversation
  // Lists of conversations leave the prompt out.
  const { value, error, reload } = useLoad((signal) => client.conversations.get(id, { signal }), [id, assistant?.key])
  const words = roomTexts.value.roomAssistant
  const offered = people.assistants.offeredIn({ ...conversation.policy, assistants: 'all' })
  if (error) return <ErrorNote error={error} onRetry={reload} />
  if (!value) return null
  const mayChange = can.includes('policy')
  if (!mayChange && !value.assistant) return null
  return (
    <section>
      <h3>{words.title}</h3>
      {mayChange ? (
        <>
          <Chosen key={value.assistant?.key} read={value} offered={offered} onSaved={reload} />
          <AllowedAssistants conversation={conversation} offered={offered} />
        </>
      ) : (
        <Shown assistant={value.assistant} />
      )}
    </section>
  )
}

function Shown({ assistant }: Pick<Conversation, 'assistant'>) {
  const { people } = useApp()
  const words = roomTexts.value.roomAssistant
  return (
    <>
      {assistant?.key !== undefined && <p>{words.answers(people.assistants.infoOf(assistant.key).title)}</p>}
      {assistant?.prompt && (
        <>
          <p class="quiet">{words.prompt}</p>
          <p class="assistant-prompt" dir="auto">
            {assistant.prompt}
          </p>
        </>
      )}
    </>
  )
}

interface ChosenProps {
  read: Conversation
  offered: readonly OfferedAssistant[]
  onSaved: () => void
}

function Chosen({ read: { id, assistant }, offered, onSaved }: ChosenProps) {
  const { client } = useApp()
  const words = roomTexts.value.roomAssistant
  const change = useAction(async (form: HTMLFormElement) => {
    const { key, [PROMPT]: prompt } = fieldsOf(form)
    const next = { ...(key && { key }), ...(prompt?.trim() && { prompt }) }
    await client.conversations.rename(id, { assistant: Object.keys(next).length > 0 ? next : null })
    showToast(roomTexts.value.details.saved)
    onSaved()
  })
  const keys = offered.flatMap(({ key, title }) => (key === undefined ? [] : [[key, title] as const]))
  // One that the user may not ask keeps its place.
  const unknown = assistant?.key !== undefined && !keys.some(([key]) => key === assistant.key) ? [assistant.key] : []
  const fieldId = useId()
  return (
    <Form action={change} button={texts.value.save}>
      <div class="field">
        <label for={fieldId}>{words.choose}</label>
        <select id={fieldId} name="key">
          <option value="">{words.usual}</option>
          {[...keys, ...unknown.map((key) => [key, key] as const)].map(([key, title]) => (
            <option key={key} value={key} selected={key === assistant?.key}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <TextArea
        label={words.prompt}
        hint={words.prompt_hint}
        name={PROMPT}
        rows={4}
        maxLength={MAX_PROMPT}
        text={assistant?.prompt ?? ''}
      />
    </Form>
  )
}
