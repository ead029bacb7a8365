import type { LimitAssignment, LimitProfile } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Select } from '../parts/select.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'

const METHODS = ['*', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

interface AssignmentsProps {
  profiles: readonly LimitProfile[]
  assignments: readonly LimitAssignment[]
  onChanged: () => void
}

/** Which routes have which profile. */
export function LimitAssignments({ profiles, assignments, onChanged }: AssignmentsProps) {
  const admin = useAdmin()
  const { limits: words } = administrationTexts.value
  const [removed, setRemoved] = useState<LimitAssignment>()
  const nameOf = ({ method, path_pattern }: LimitAssignment) => `${method} ${path_pattern}`
  return (
    <section>
      <h3>{words.assignments}</h3>
      <p class="hint">{words.assignments_text}</p>
      {assignments.length === 0 && <p class="quiet">{words.no_assignments}</p>}
      <ul class="items">
        {assignments.map((each) => (
          <li key={each.id}>
            <span class="name">
              <code>{nameOf(each)}</code>
              <small>{each.profile_name}</small>
            </span>
            <button type="button" aria-label={words.remove_of(nameOf(each))} onClick={() => setRemoved(each)}>
              {words.remove}
            </button>
          </li>
        ))}
      </ul>
      {profiles.length > 0 && <Assign profiles={profiles} onAssigned={onChanged} />}
      {removed && (
        <Confirm
          title={words.remove_title(nameOf(removed))}
          text={words.remove_assignment_text}
          button={words.remove}
          act={() => admin.limits.deleteAssignment(removed.id).then(onChanged)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </section>
  )
}

function Assign({ profiles, onAssigned }: { profiles: readonly LimitProfile[]; onAssigned: () => void }) {
  const admin = useAdmin()
  const { limits: words } = administrationTexts.value
  const [chosen, setChosen] = useState<string>()
  const [method, setMethod] = useState<(typeof METHODS)[number]>('*')
  const profile_id = profiles.find(({ id }) => id === chosen)?.id ?? profiles[0]!.id
  const action = useAction(async (form: HTMLFormElement) => {
    await admin.limits.createAssignment({ profile_id, method, path: fieldsOf(form).path ?? '' })
    form.reset()
    onAssigned()
  })
  return (
    <Form action={action} button={words.assign}>
      <Select
        label={words.profile}
        value={profile_id}
        options={profiles.map(({ id, name }) => [id, name])}
        onChange={setChosen}
      />
      <Select label={words.method} value={method} options={METHODS.map((each) => [each, each])} onChange={setMethod} />
      <Field label={words.path} name="path" maxLength={500} autocomplete="off" hint={words.path_hint} required />
    </Form>
  )
}
