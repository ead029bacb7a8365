import type { Config } from '../../lib/config/parse.ts'
import { countDisabled } from '../../lib/integrations/webhooks/store.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { type Finding, note, warning } from './finding.ts'

/** The findings about webhooks that send nothing, for a reason that their owners may not know. */
export async function checkWebhooks({ webhooks }: Config, db: Queries): Promise<Finding[]> {
  if (!webhooks.enabled) return []
  const counts = new Map((await countDisabled(db)).map(({ disabled_reason, count }) => [disabled_reason, count]))
  const findings: Finding[] = []
  const lost = counts.get('secret_lost')
  if (lost)
    findings.push(
      warning(
        'webhooks.secret_lost',
        `No key of the service opens the secrets of ${lost} webhooks, which are disabled.`,
        'Name the former key in security.previous_secret_keys and enable them, or rotate their secrets with "chat-server webhook rotate".',
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
