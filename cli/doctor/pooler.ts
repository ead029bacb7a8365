import type { Config } from '../../lib/config/parse.ts'
import { inspectPooler, type PoolerFacts } from '../../lib/storage/postgres/pooler.ts'
import { toFailure } from '../errors.ts'
import { type Finding, failure, note, ok, skipped } from './finding.ts'

/** What is known of a pooler in front of PostgreSQL. */
export interface PoolerCheck {
  findings: Finding[]
  /** Whether there is one: the number of connections to PostgreSQL is then the pooler's. */
  is_pooled: boolean
  /** Whether statements with names fail. */
  refuses_names: boolean
}

/** Runs statements with names on the configured URL: a pooler may run them where they were not prepared. */
export async function checkPooler({
  url,
  application_name,
  prepared_statements,
}: Config['database']): Promise<PoolerCheck> {
  try {
    const facts = await inspectPooler({ url, application_name })
    const refuses_names = facts.failure !== undefined
    const findings = [judgePooler(facts, prepared_statements), ...judgeEncryption(facts)]
    return { findings, is_pooled: facts.is_pooled, refuses_names }
  } catch (error) {
    const message = `Whether a pooler is in front of PostgreSQL is unknown: ${toFailure(error).message}`
    return { findings: [skipped('database.pooler', message)], is_pooled: false, refuses_names: false }
  }
}

/** Whether a service with this setting works where the connections lead. */
export function judgePooler({ is_pooled, is_detected, failure: reason }: PoolerFacts, prepared: boolean): Finding {
  if (!is_pooled) return ok('database.no_pooler', 'No pooler is in front of PostgreSQL.')
  if (reason === undefined) {
    const unused = prepared && !is_detected ? '' : ', which the service does not use'
    return ok('database.pooler', `A pooler is in front of PostgreSQL. It can carry names of statements${unused}.`)
  }
  const message = 'A pooler is in front of PostgreSQL. It cannot carry names of statements'
  if (!prepared)
    return ok('database.pooler', `${message}, and the service sends none (database.prepared_statements = false).`)
  const remedy = 'Set database.prepared_statements = false.'
  if (is_detected)
    return note('database.pooler_without_names', `${message}: the service detects this pooler and sends none.`, remedy)
  return failure(
    'database.pooler_without_names',
    `${message}, which the service sends: calls fail (${reason}).`,
    remedy,
  )
}

/** A note, not a warning: the network may be one of these machines alone. */
export function judgeEncryption({ unencrypted_to: host }: PoolerFacts): Finding[] {
  if (host === undefined) return []
  const message = `The connections to PostgreSQL at ${host} are not encrypted.`
  const remedy = 'Add sslmode=verify-full to database.url, unless only these machines use the network between them.'
  return [note('database.unencrypted', message, remedy)]
}
