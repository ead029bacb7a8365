import { countChanges, isFilling } from '../../lib/chat/search/store.ts'
import { canIndex } from '../../lib/chat/search/word-index.ts'
import type { Config } from '../../lib/config/parse.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { type Finding, note, ok, warning } from './finding.ts'

/** This many changes wait only for a moment while a service runs, unless the index is filled. */
const MANY = 10_000

/** Whether messages can be searched, and the index is as they are. */
export async function checkSearch({ search }: Pick<Config, 'search'>, db: Queries): Promise<Finding[]> {
  if (!search.enabled) return [note('search.off', 'Messages cannot be searched: search.enabled is false.')]
  if (!(await canIndex(db)))
    return [
      warning(
        'search.no_fts5',
        'Messages cannot be searched: this build of SQLite has no FTS5.',
        'Install better-sqlite3 as it is published, or use a Node.js whose SQLite has FTS5.',
      ),
    ]
  const changes = await countChanges(db)
  return judgeSearch({ ...changes, filling: await isFilling(db) })
}

/** The findings about the search index. */
export function judgeSearch(state: { waiting: number; refused: number; filling: boolean }): Finding[] {
  const { waiting, refused, filling } = state
  const findings: Finding[] = []
  if (refused > 0)
    findings.push(
      warning(
        'search.refused',
        `The database refuses ${refused} messages for the search index: searches read them directly, which is slower.`,
        'The log has the reason. Correct it, and try "chat-server search rebuild".',
      ),
    )
  if (filling) return [...findings, note('search.filling', 'Older messages are being brought into the search index.')]
  if (waiting - refused >= MANY)
    findings.push(
      warning(
        'search.behind',
        `The search index lacks ${waiting - refused} changes of messages: searches read them directly, which is slower.`,
        'Is a service running? Its log says what fails: "The search index could not be brought up to date".',
      ),
    )
  return findings.length > 0 ? findings : [ok('search.index', 'The search index is as the messages are.')]
}
