import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { Select } from '../parts/select.tsx'
import { showToast } from '../parts/toast.tsx'
import { shownProfile } from '../people/shown-profile.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { Ending } from './ending.tsx'
import type { TabProps } from './pane.tsx'
import { RoomAssistant } from './room-assistant.tsx'

const LAYOUTS = ['stream', 'topics', 'assistant'] as const

/** What a conversation is about and how it looks, which those who look after it change; and how to leave it. */
export function About({ conversation, user }: TabProps) {
  const { id, topic, icon, direct, can, with: partner, participant_count } = conversation
  const { features } = useApp()
  const { conversations, messages } = texts.value
  return (
    <>
      {!direct && can.includes('policy') ? (
        <Look conversation={conversation} />
      ) : (
        (topic || icon) && (
          <p dir="auto">
            {icon} {topic}
          </p>
        )
      )}
      {!direct && <p class="quiet">{conversations.people(participant_count)}</p>}
      {partner && (
        <p class="buttons start">
          <button
            type="button"
            onClick={() => {
              shownProfile.value = { user_id: partner.user_id, conversation_id: id }
            }}
          >
            <Icon name="people" />
            {messages.profile}
          </button>
        </p>
      )}
      {features.assistant && conversation.joined !== false && <RoomAssistant conversation={conversation} />}
      {user.roles.includes('admin') && can.includes('delete') && <AutoJoin conversation={conversation} />}
      {conversation.joined !== false && <Ending conversation={conversation} user={user} />}
    </>
  )
}

function Look({ conversation: { id, can, title, topic, icon, layout } }: Pick<TabProps, 'conversation'>) {
  const { client, features } = useApp()
  const { details: words } = roomTexts.value
  const change = useAction(async (form: HTMLFormElement) => {
    await client.conversations.rename(id, fieldsOf(form))
    showToast(words.saved)
  })
  const show = useAction((next: (typeof LAYOUTS)[number]) => client.conversations.rename(id, { layout: next }))
  const layouts = LAYOUTS.filter((each) => each !== 'assistant' || each === layout || features.assistant)
  return (
    <>
      <Form action={change} button={texts.value.save}>
        {can.includes('rename') && (
          <Field label={words.name} name="title" defaultValue={title} maxLength={200} required />
        )}
        <Field label={words.topic} name="topic" defaultValue={topic ?? ''} maxLength={250} />
        <Field label={words.icon} hint={words.icon_hint} name="icon" defaultValue={icon ?? ''} maxLength={64} />
      </Form>
      <Select
        label={words.layout}
        value={layout}
        options={layouts.map((each) => [each, words.layouts[each]])}
        disabled={show.isRunning}
        onChange={(next) => void show.run(next)}
      />
      <ErrorNote error={show.error} />
    </>
  )
}

/** Which users join by themselves: an owner decides who is an administrator. */
function AutoJoin({ conversation: { id, auto_join } }: Pick<TabProps, 'conversation'>) {
  const { client, features } = useApp()
  const { details: words } = roomTexts.value
  const { run, isRunning, error } = useAction((next: (typeof AUDIENCES)[number]) =>
    client.conversations.rename(id, { auto_join: next === 'nobody' ? null : next }),
  )
  const value = auto_join ?? 'nobody'
  return (
    <section>
      <Select
        label={words.auto_join}
        value={value}
        options={AUDIENCES.filter((each) => each !== 'everyone' || each === value || features.access.guests).map(
          (each) => [each, words.auto_joins[each]],
        )}
        disabled={isRunning}
        onChange={(next) => void run(next)}
      />
      {auto_join && <p class="quiet">{words.auto_join_hint}</p>}
      <ErrorNote error={error} />
    </section>
  )
}

const AUDIENCES = ['nobody', 'members', 'everyone'] as const
