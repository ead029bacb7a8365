import { findTooLong } from '../lengths.ts'
import { MIGRATIONS } from '../schema/migrations.ts'
import { type Counts, type Header, TABLES, VERSION } from './format.ts'
import { readArchive } from './read.ts'

/** Reads an archive to its end. @throws Error when it cannot be imported, as far as that shows without a database */
export async function checkArchive(lines: AsyncIterable<string>): Promise<Counts> {
  const counts: Counts = Object.fromEntries(TABLES.map(([table]) => [table, 0]))
  let header: Header | undefined
  for await (const line of readArchive(lines)) {
    if (!header) {
      header = line as Header
      if (header.chat_server_archive !== VERSION) throw new Error('This is not an archive that this program can read')
      const unknown = header.migrations.find((name) => !MIGRATIONS.some((migration) => migration.name === name))
      if (unknown) throw new Error(`The archive (${unknown}) is newer than this program: install the newer version`)
    } else if ('table' in line) {
      const wrong = counts[line.table] === undefined ? `unknown ${line.table}` : findTooLong(line.table, line.row)
      if (wrong) throw new Error(`The archive cannot be imported: ${wrong}`)
      counts[line.table]!++
    } else if ('end' in line) {
      for (const [table, rows] of Object.entries(counts)) {
        const should = line.counts[table] ?? 0
        if (rows !== should) throw new Error(`The archive has ${rows} ${table}, and should have ${should}`)
      }
      return counts
    }
  }
  throw new Error('The archive is not whole: its end is missing')
}
