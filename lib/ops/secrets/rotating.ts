import { valuesKey } from '../../cluster/details.ts'
import type { Context } from '../../context.ts'
import { HOUR, MINUTE, SECOND } from '../../core/units.ts'
import { resealSome } from '../../integrations/webhooks/resealing.ts'
import { countSealed } from '../../integrations/webhooks/store-secrets.ts'
import type { Queries } from '../../storage/database.ts'
import { SIGNED_MICROS, secretId } from '../../storage/keyring.ts'
import {
  deleteFormerSecret,
  deleteNextSecret,
  insertValuesKey,
  promoteNextSecret,
  readSecret,
  readSecrets,
} from '../../storage/secret.ts'
import { deleteRetirement } from '../../storage/secret-retirements.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import type { TaskDetail } from '../../tasks/schema.ts'

/** The task: there is one at most. */
export const ROTATION = { kind: 'secret.rotate', key: '' } as const

/** A process that does not know the new key yet seals with the former one. */
const KNOWN_MICROS = MINUTE

/** How long a configured key is waited for that no process of the service has: its nodes are reloaded one after the other. */
const WAIT_MICROS = HOUR

/**
 * Encrypts anew what a former key has encrypted. A next key of the database becomes the first one before, and the former one is
 * removed when what it has signed is refused, too. `key` of the detail is the configured one of who has asked: a process that
 * has another leaves the task to one that has it, for an hour, or until then where something is encrypted with it already.
 */
export async function rotate(ctx: Context, { detail, isOver }: TaskRun): Promise<TaskOutcome> {
  const { after: begun = '', waiting_until: _, ...rest } = detail
  if (rest.key !== undefined && (await ctx.keyring.names())[0]!.id !== rest.key) return waitForKey(ctx, detail)
  const isStored = ctx.config.security.secret_key === undefined
  await ctx.write((tx) => (isStored ? replaceSecret(tx) : forgetNextSecret(tx)))
  const [first, ...others] = await ctx.keyring.names()
  let after = String(begun)
  for (let next: string | undefined = after; next !== undefined; ) {
    if (isOver()) return { done: false, detail: { ...rest, after } }
    next = await resealSome(ctx, first!.id, after)
    after = next ?? after
  }
  const { former } = await readSecrets(ctx.db)
  const waits = Math.max(0, ...others.map(({ retired_at }) => retired_at + SIGNED_MICROS + KNOWN_MICROS - ctx.now()))
  if (former && waits > 0) return { done: false, detail: rest, delay_seconds: Math.ceil(waits / SECOND) }
  if (former)
    await ctx.write(async (tx) => {
      await deleteFormerSecret(tx)
      await deleteRetirement(tx, secretId(former))
    })
  const lost = [...(await countSealed(ctx.db)).keys()].some((id) => id !== first!.id)
  if (lost) ctx.log.warn('No key of the service opens some of what is encrypted: "chat-server secret status" counts it')
  else ctx.log.info('Nothing that is encrypted needs a former key of the service any more')
  return { done: true }
}

const RELOAD =
  'Reload the configuration of each node with it as security.secret_key and the former one in security.previous_secret_keys'

/** What a process does that does not have the key: nothing changes. It gives up only where nothing has changed before. */
async function waitForKey({ db, log, now }: Context, detail: TaskDetail): Promise<TaskOutcome> {
  let waiting_until = Number(detail.waiting_until ?? now() + WAIT_MICROS)
  if (now() >= waiting_until) {
    // A process that had the key may have begun, or have sealed something new, before it lost it.
    if (!(await countSealed(db)).has(String(detail.key))) {
      log.error(
        `A key of the service was not replaced, and nothing has changed: for an hour no process has had it. ${RELOAD}; then run "chat-server secret rotate" again`,
      )
      return { done: true }
    }
    log.error(
      `A key of the service is replaced in part: some of what is encrypted needs it, and for an hour no process has had it. ${RELOAD}; the rest follows by itself`,
    )
    waiting_until = now() + WAIT_MICROS
  }
  log.warn('A key of the service is to be replaced, and this process has another one: reload its configuration')
  // Processes look for tasks at the same intervals: at an even pause the same one would always be the first.
  const delay_seconds = Math.ceil((KNOWN_MICROS / SECOND) * (0.5 + Math.random() / 2))
  return { done: false, detail: { ...detail, waiting_until }, delay_seconds }
}

/** Removes the next key, if there is one: one is configured. */
async function forgetNextSecret(tx: Queries): Promise<void> {
  const { next } = await readSecrets(tx)
  if (!next) return
  await deleteNextSecret(tx)
  await deleteRetirement(tx, secretId(next))
}

/** Makes the next key the first, if there is one. Nodes that have started before still compare their configurations. */
async function replaceSecret(tx: Queries): Promise<void> {
  const present = await readSecret(tx)
  if (present) await insertValuesKey(tx, valuesKey(present))
  await promoteNextSecret(tx)
}
