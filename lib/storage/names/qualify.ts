import { splitTokens, type Token } from './tokens.ts'

/** How names of the schema are written in a database that has them in a schema of its own, or with a prefix. */
export interface Spelling {
  /** Whether this is the name of a table of the schema. */
  isTable(word: string): boolean
  prefix: string
  /** What stands before a name: `"chat".`, or nothing. */
  path: string
  /** The schema as a literal, if it is not the current one. */
  schema?: string | undefined
  /** The second key of advisory locks. */
  lock: number
}

/** Words after which a table is named. */
const BEFORE_TABLE = new Set(['FROM', 'JOIN', 'INTO', 'UPDATE', 'TABLE', 'REFERENCES', 'EXISTS', 'ANALYZE', 'VACUUM'])

/** Words that begin a list of tables, and those that end it. */
const BEFORE_LIST = new Set(['FROM', 'ANALYZE', 'TABLE'])
const AFTER_LIST = /^(WHERE|GROUP|ORDER|LIMIT|SET|SELECT|HAVING|RETURNING|UNION|EXCEPT|INTERSECT|ON|FOR)$/

/** Functions whose text argument is the name of a table. */
const BY_NAME = new Set(['TO_REGCLASS', 'PG_GET_SERIAL_SEQUENCE', 'NEXTVAL'])

/** Where the rewriting of a statement is. */
interface Place {
  /** The tokens so far that are no spaces, in upper case, the latest last. */
  before: string[]
  /** By depth of parentheses: whether a comma is followed by another table. */
  lists: boolean[]
  /** Names that a WITH has defined, and those whose definitions are open, by depth. */
  defined: Set<string>
  open: Map<number, string>
}

/** Rewrites a statement of the stores, so that it uses the tables and indexes of this schema and prefix. */
export function qualify(sql: string, spelling: Spelling): string {
  const { schema } = spelling
  const tokens = splitTokens(schema ? sql.replaceAll('current_schema()', schema) : sql)
  const solid = tokens.filter(({ kind }) => kind !== 'skipped')
  const place: Place = { before: [], lists: [false], defined: new Set(), open: new Map() }
  let index = 0
  return tokens
    .map((token) => {
      if (token.kind === 'skipped') return token.text
      const text = rewrite(token, solid.slice(index + 1, index + 5), place, spelling)
      index++
      advance(place, token)
      return text
    })
    .join('')
}

function advance({ before, lists, defined, open }: Place, { kind, text }: Token): void {
  const word = kind === 'word' ? text.toUpperCase() : text
  if (word === '(') lists.push(false)
  if (word === ')') {
    lists.pop()
    const name = open.get(lists.length)
    if (name) defined.add(name)
    open.delete(lists.length)
  }
  if (BEFORE_LIST.has(word)) lists[lists.length - 1] = true
  if (AFTER_LIST.test(word)) lists[lists.length - 1] = false
  before.push(word)
}

function rewrite(token: Token, after: Token[], place: Place, spelling: Spelling): string {
  const { before } = place
  const last = before.at(-1)
  if (token.kind === 'literal') {
    const name = token.text.slice(1, -1)
    if (!spelling.isTable(name)) return token.text
    if (last === '(' && BY_NAME.has(before.at(-2) ?? '')) return `'${spelling.path}${spelling.prefix}${name}'`
    const isCounter = last === '=' && before.at(-2) === 'NAME' && before.includes('SQLITE_SEQUENCE')
    return isCounter ? `'${spelling.prefix}${name}'` : token.text
  }
  if (token.kind === 'mark') {
    // The lock has a second key, its own in each schema: services in one database do not wait for each other.
    const isLock = token.text === ')' && last === '?' && before.at(-3) === 'PG_ADVISORY_XACT_LOCK'
    return isLock ? `, ${spelling.lock})` : token.text
  }
  if (isOther(before, token.text)) return otherName(before, token.text, spelling)
  return tableName(token.text, after, place, spelling)
}

/** Whether the word is the name of an index, a constraint or a sequence. */
function isOther(before: string[], word: string): boolean {
  if (!/^(CREATE|DROP|ALTER)$/.test(before[0] ?? '') || /^(IF|NOT|EXISTS|ON)$/i.test(word)) return false
  const kind = before.findLast((each) => !/^(IF|NOT|EXISTS)$/.test(each))
  return /^(INDEX|CONSTRAINT|SEQUENCE)$/.test(kind!)
}

function otherName(before: string[], word: string, { path, prefix }: Spelling): string {
  // A new index is in the schema of its table, a constraint belongs to it.
  const isWithPath = before.includes('SEQUENCE') || (before.includes('INDEX') && before[0] === 'DROP')
  return (isWithPath ? path : '') + prefix + word
}

function tableName(word: string, after: Token[], place: Place, spelling: Spelling): string {
  const { before, defined } = place
  if (!spelling.isTable(word)) return word
  const { path, prefix } = spelling
  const last = before.at(-1)
  // `main.conversations` of SQLite, which has no schemas.
  if (last === '.') return before.at(-2) === 'MAIN' ? prefix + word : word
  if (isDefinition(word, after, place)) return prefix + word
  const isOwner = last === 'BY' && before.at(-2) === 'OWNED'
  if (after[0]?.text === '.') return (isOwner ? path : '') + prefix + word
  if (!isTablePlace(place)) return word
  return (defined.has(word) ? '' : path) + prefix + word
}

/** Whether a WITH defines this name: `name AS (`, `name AS NOT MATERIALIZED (`. */
function isDefinition(word: string, after: Token[], { before, lists, open }: Place): boolean {
  const texts = after.map(({ text }) => text.toUpperCase()).join(' ')
  const isDefined =
    before.includes('WITH') && /^(WITH|,)$/.test(before.at(-1)!) && /^AS (NOT )?(MATERIALIZED )?\(/.test(texts)
  if (isDefined) open.set(lists.length, word)
  return isDefined
}

function isTablePlace({ before, lists }: Place): boolean {
  const last = before.at(-1)!
  if (last === ',') return lists.at(-1)!
  if (last === 'ON') return before[0] === 'CREATE' && before.includes('INDEX')
  return BEFORE_TABLE.has(last)
}
