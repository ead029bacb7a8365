import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Select } from '../parts/select.tsx'
import { showToast } from '../parts/toast.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { Ending } from './ending.tsx'
import { mayManage, type TabProps } from './pane.tsx'

const LAYOUTS = ['stream', 'topics', 'assistant'] as const

/** What a conversation is about and how it looks, which those who look after it change; its rules; and how to leave it. */
export function About({ conversation, user }: TabProps) {
  const { topic, icon, direct, role } = conversation
  return (
    <>
      {mayManage(conversation) ? (
        <Look conversation={conversation} />
      ) : (
        (topic || icon) && (
          <p dir="auto">
            {icon} {topic}
          </p>
        )
      )}
      {(direct ? role === 'owner' : mayManage(conversation)) && <Policy conversation={conversation} />}
      <Ending conversation={conversation} user={user} />
    </>
  )
}

function Look({ conversation: { id, role, title, topic, icon, layout } }: Pick<TabProps, 'conversation'>) {
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
        {role === 'owner' && <Field label={words.name} name="title" defaultValue={title} maxLength={200} required />}
        <Field label={words.topic} name="topic" defaultValue={topic ?? ''} maxLength={200} />
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

/** What holds for everyone. */
function Policy({ conversation: { id, policy, direct } }: Pick<TabProps, 'conversation'>) {
  const { client } = useApp()
  const { details: words } = roomTexts.value
  const { run, error } = useAction((change: Partial<typeof policy>) =>
    client.conversations.rename(id, { policy: change }),
  )
  return (
    <section>
      <h3>{words.policy}</h3>
      {!direct && (
        <Select
          label={words.mention_all}
          value={policy.mention_all}
          options={(['everyone', 'members', 'moderators', 'admins', 'owners', 'nobody'] as const).map((each) => [
            each,
            words.mention_alls[each],
          ])}
          onChange={(mention_all) => void run({ mention_all })}
        />
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={policy.receipts === 'on'}
          onChange={(event) => void run({ receipts: event.currentTarget.checked ? 'on' : 'off' })}
        />
        {words.policy_receipts}
      </label>
      <ErrorNote error={error} />
    </section>
  )
}
