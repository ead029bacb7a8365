import type { Config } from '../../lib/config/parse.ts'
import { HOUR } from '../../lib/core/units.ts'
import { listUnsent } from '../../lib/integrations/webhooks/lag.ts'
import { countDisabled } from '../../lib/integrations/webhooks/store.ts'
import { listLate } from '../../lib/integrations/webhooks/store-deliveries.ts'
import { listActive } from '../../lib/integrations/webhooks/store-sending.ts'
import { createFeed } from '../../lib/live/feed/feed.ts'
import type { Database } from '../../lib/storage/database.ts'
import type { Micros } from '../../lib/storage/sql.ts'
import { type Finding, note, warning } from './finding.ts'

/** How long an event may wait before it is reported. */
const LATE = HOUR

/** The findings about webhooks that send nothing, for a reason that their owners may not know. */
export async function checkWebhooks({ server, webhooks }: Config, db: Database, now: Micros): Promise<Finding[]> {
  if (!webhooks.enabled) return []
  const counts = new Map((await countDisabled(db)).map(({ disabled_reason, count }) => [disabled_reason, count]))
  const findings: Finding[] = []
  if (!server.public_url)
    findings.push(
      note(
        'webhooks.no_public_url',
        'server.public_url is not set: events without texts have a path only, and a URL of this service may be named.',
      ),
    )
  const lost = counts.get('secret_lost')
  if (lost)
    findings.push(
      warning(
        'webhooks.secret_lost',
        `No key of the service opens the secrets of ${lost} webhooks, which are disabled.`,
        'Name the former key in security.previous_secret_keys and enable them, or rotate their secrets with "chat-server webhook rotate".',
      ),
    )
  const failing = counts.get('failing')
  if (failing)
    findings.push(
      note(
        'webhooks.failing',
        `${failing} webhooks are disabled, as no call of them succeeded for five days.`,
        'Their owners were told by mail. When a receiver is back, enable its webhook with "chat-server webhook set <id> --enable".',
      ),
    )
  const late = await countLate(db, now - LATE)
  if (late > 0)
    findings.push(
      warning(
        'webhooks.late',
        `${late} webhooks have not been sent an event that is more than an hour old.`,
        'Look at what their receivers answer with "chat-server webhook deliveries <id>".',
      ),
    )
  const restored = counts.get('restored')
  if (restored)
    findings.push(
      note(
        'webhooks.restored',
        `${restored} webhooks are disabled since the database was restored or imported.`,
        'Their owners enable them, or you with "chat-server webhook set <id> --enable".',
      ),
    )
  return findings
}

/** The number of webhooks that were not sent an event from before an instant. */
async function countLate(db: Database, before: Micros): Promise<number> {
  const unsent = await listUnsent({ db, feed: createFeed(db) }, await listActive(db))
  const behind = [...unsent].flatMap(([id, at]) => (at < before ? id : []))
  return new Set([...behind, ...(await listLate(db, before))]).size
}
