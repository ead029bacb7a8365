import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'
import { Roles } from './roles.tsx'
import { Tasks } from './tasks.tsx'

/** The service: whether it is ready, its processes, and what it works on. */
export function Service() {
  const admin = useAdmin()
  const { brand } = useApp()
  const { service: words } = administrationTexts.value
  const health = useLoad((signal) => admin.ops.readiness({ signal }))
  const nodes = useLoad((signal) => admin.nodes.list({ signal }))
  return (
    <>
      <section>
        <h3>{brand.name}</h3>
        {health.value && !health.error && (
          <p class="ready" role="status">
            <Icon name="check" />
            {words.ready}
          </p>
        )}
        {health.error !== undefined && <p role="status">{words.not_ready}</p>}
        <ErrorNote error={health.error} />
        {!health.value && !health.error && <Waiting />}
        <p>
          <a href={docsAddress()} target="_blank" rel="noopener">
            {words.docs}
          </a>
        </p>
      </section>
      <section>
        <h3>{words.nodes}</h3>
        <ErrorNote error={nodes.error} />
        <ul class="items">
          {nodes.value?.nodes.map(({ id, version, started_at, streams, self }) => (
            <li key={id}>
              <span class="name">
                <code>{id}</code>
                {self && <span class="tag">{words.self}</span>}
                <small title={longTime(started_at)}>
                  {words.node(version, streams)} · {words.started(shortTime(started_at))}
                </small>
              </span>
            </li>
          ))}
        </ul>
      </section>
      <Roles />
      <Tasks />
    </>
  )
}

/** Beside the page, whose own path may have no slash at its end. */
function docsAddress(): string {
  return `${location.pathname.replace(/\/$/, '')}/docs`
}
