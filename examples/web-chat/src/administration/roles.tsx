import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { roleName } from '../people/role-name.ts'
import { administrationTexts } from '../texts/settings.ts'
import { nameOfChoice } from './role.tsx'

/** The roles and rights as the service has them now, which its configuration says. */
export function Roles() {
  const { client, features } = useApp()
  const { roles: words } = administrationTexts.value
  const { roles, participant_roles } = features.access
  const own = useLoad((signal) => client.auth.me({ signal }))
  const rights = Object.entries(own.value?.can ?? {}).map(([right, reach]) =>
    reach === true ? right : `${right}: ${reach}`,
  )
  return (
    <section>
      <h3>{words.title}</h3>
      <p class="hint">{words.text}</p>
      <ul class="items">
        <Item name={words.service} facts={roles.map(nameOfChoice)} />
        {participant_roles.map(({ name, rights }) => (
          <Item key={name} name={words.in_rooms(roleName(name))} facts={rights} />
        ))}
        {own.value && <Item name={words.own} facts={rights} />}
      </ul>
      <ErrorNote error={own.error} onRetry={own.reload} />
    </section>
  )
}

function Item({ name, facts }: { name: string; facts: readonly string[] }) {
  return (
    <li>
      <span class="name">
        {name}
        <small>{facts.length > 0 ? facts.join(', ') : administrationTexts.value.roles.none}</small>
      </span>
    </li>
  )
}
