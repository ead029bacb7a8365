import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { settle } from '../fault/people.ts'
import type { Serving } from '../fault/storage/serving.ts'
import { createFakeClock, type FakeClock } from '../support/faketime.ts'
import { Missing, type Stage } from './stage.ts'

export const sqliteIn = (folder: string) => `sqlite:${join(folder, 'chat.db')}`

/** A user who posts on and on, whatever happens. */
export async function post(stage: Stage, { base_url }: Serving, parallel = 1, content = 'hello'): Promise<void> {
  const place = await settle(base_url)
  const ada = await place.signIn()
  stage.repeat(() => ada.messages.postRoot(place.conversation_id, { content }), parallel)
}

/** A clock for the processes of a stage. @throws Missing without Debian's `faketime` */
export function clockOf({ folder }: Stage): FakeClock {
  const clock = createFakeClock(folder)
  if (!clock) throw new Missing('faketime is not installed')
  return clock
}

/** Stops a process for a while, again and again. */
export function interrupt(stage: Stage, { pid }: Serving, ms: number, between_ms: number): void {
  stage.onClose(() => process.kill(pid, 'SIGCONT'))
  stage.repeat(async () => {
    process.kill(pid, 'SIGSTOP')
    await sleep(ms)
    process.kill(pid, 'SIGCONT')
    await sleep(between_ms)
  })
}

/** Stops a server until the outage is over. */
export async function stopServer(stage: Stage, cluster: { restart(whileDown: () => Promise<void>): Promise<void> }) {
  const over = new Promise<void>((resolve) => stage.signal.addEventListener('abort', () => resolve()))
  let down = () => {}
  const isDown = new Promise<void>((resolve) => (down = resolve))
  const restarted = cluster.restart(() => {
    down()
    return over
  })
  stage.onClose(() => restarted)
  await isDown
}
