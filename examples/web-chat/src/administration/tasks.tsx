import type { TaskRecord } from 'chat-server/client/admin'
import { useEffect } from 'preact/hooks'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { administrationTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'

/** How often it is looked whether work under way has got further. */
const LOOK_MS = 2_000

/** What the service works on in the background, such as the messages of an erased user; it is looked at again until it is done. */
export function Tasks({ isHiddenWithout = false }: { isHiddenWithout?: boolean }) {
  const admin = useAdmin()
  const { tasks: words } = administrationTexts.value
  const { value, error, reload } = useLoad((signal) => admin.tasks.list({ limit: 50 }, { signal }))
  const tasks = value?.tasks ?? []
  useEffect(() => {
    if (tasks.length === 0) return
    const timer = setTimeout(reload, LOOK_MS)
    return () => clearTimeout(timer)
  }, [value])
  if (isHiddenWithout && tasks.length === 0) return null
  return (
    <section>
      <h3>{words.title}</h3>
      <ErrorNote error={error} />
      {value && tasks.length === 0 && <p class="quiet">{words.none}</p>}
      <ul class="items" aria-live="polite">
        {tasks.map((task) => (
          <Task key={task.id} task={task} />
        ))}
      </ul>
    </section>
  )
}

function Task({ task: { kind, created_at, running, attempts, removed } }: { task: TaskRecord }) {
  const { tasks: words, created } = administrationTexts.value
  return (
    <li>
      <span class="name">
        <code>{kind}</code>
        <span class="tag">{running ? words.running : words.waiting}</span>
        <small>
          {[
            created(shortTime(created_at)),
            removed !== undefined && words.removed(removed),
            attempts > 0 && words.failed(attempts),
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </span>
    </li>
  )
}
