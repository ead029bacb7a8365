import { type Line, VERSION } from './format.ts'

/** Why an archive without its last line is refused. */
export const NOT_WHOLE = 'The archive is not whole: its end is missing'

const NO_ARCHIVE = 'This is not an archive of chat-server, or it is damaged'

/** The lines of an archive. @throws Error for a line that is none */
export async function* readArchive(lines: AsyncIterable<string>): AsyncGenerator<Line> {
  for await (const text of lines) yield parseLine(text)
}

function parseLine(text: string): Line {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch (cause) {
    throw new Error(NO_ARCHIVE, { cause })
  }
  if (!isLine(line)) throw new Error(NO_ARCHIVE)
  return line
}

/** Whether it is a line of an archive; the header may be of any version. */
function isLine(line: unknown): line is Line {
  const { chat_server_archive, migrations, row, end, counts } = Object(line) as Record<string, unknown>
  if (chat_server_archive !== undefined) return chat_server_archive !== VERSION || Array.isArray(migrations)
  return (isObject(row) && Object.values(row).every(isPrimitive)) || (end === true && isObject(counts))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The values that {@link exportArchive} writes. */
function isPrimitive(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
