import type { Config } from '../../lib/config/parse.ts'
import { listLeftovers } from '../leftovers.ts'
import { type Finding, warning } from './finding.ts'

const MAX_NAMED = 5

/** The finding about temporary files of killed processes, which may have copies of the database; none without such files. */
export async function checkLeftovers(config: Pick<Config, 'backup' | 'database'>): Promise<Finding[]> {
  const leftovers = await listLeftovers(config)
  if (leftovers.length === 0) return []
  const sum = leftovers.reduce((bytes, leftover) => bytes + leftover.bytes, 0)
  const named = leftovers.slice(0, MAX_NAMED).map(({ path }) => path)
  const more = leftovers.length > MAX_NAMED ? `, and ${leftovers.length - MAX_NAMED} more` : ''
  return [
    warning(
      'disk.leftovers',
      `Processes that were killed have left ${Math.ceil(sum / 2 ** 20)} MiB: ${named.join(', ')}${more}.`,
      'Delete them. Otherwise the service does so within an hour, and so does the next command that writes to the same folder.',
    ),
  ]
}
