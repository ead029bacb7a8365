/** What a server may log in a run, as a test causes it on purpose. */
interface Expected {
  /** The SQLSTATE. */
  code: string
  /** What the message is, and the statement begins with, where other errors of that code are bugs. */
  message?: RegExp
  statement?: RegExp
  why: string
}

/**
 * Every error that tests cause on purpose. One that is in no list is a statement that PostgreSQL does not take: a code of
 * class 42 (the text of a statement, and the names in it) is here with its message or its statement only.
 */
export const EXPECTED: readonly Expected[] = [
  { code: '23505', why: 'races, and taken names, that a unique constraint decides' },
  {
    code: '23502',
    statement: /^INSERT INTO api_keys \(id, user_id\) VALUES \('k', NULL\)/,
    why: 'a write that fails first',
  },
  { code: '23503', why: 'a row is added while what it refers to is deleted' },
  { code: '23514', message: /^new row for relation "search_docs" /, why: 'the index is made to refuse a message' },
  { code: '40001', why: 'races that a snapshot decides' },
  { code: '40P01', why: 'deadlocks that tests make' },
  { code: '55P03', why: 'rows that tests have locked' },
  { code: '57014', why: 'statements that run longer than they may, or are cancelled' },
  { code: '57P01', why: 'connections that tests end, also by dropping the database' },
  { code: '25P03', why: 'transactions that a test leaves open' },
  { code: '25006', why: 'writes to a database that a test has made read-only' },
  { code: '53300', why: 'more connections than a test allows' },
  {
    code: '28000',
    message: /^role "[^"]*" (does not exist|is not permitted to log in)$/,
    why: 'logins that are refused',
  },
  { code: '3D000', why: 'databases that do not exist, or no longer' },
  { code: '08006', message: /^connection to client lost$/, why: 'processes that tests kill while a statement runs' },
  { code: '08P01', why: 'connections that are cut in the middle of a message' },
  { code: '25P02', why: 'the statements behind a failed one: they are sent without waiting for each other' },
  { code: '25P01', statement: /^SAVEPOINT chat_server$/, why: 'a host shares a connection without a transaction' },
  { code: '26000', message: /^prepared statement "[0-9a-f-]{36}" does not/, why: 'doctor tries the names of a pooler' },
  {
    code: '42P05',
    statement: /^SELECT pg_backend_pid\(\) AS pid, pg_sleep/,
    why: 'doctor tries the names of a pooler',
  },
  { code: '42703', statement: /^SELECT nothing$/, why: 'a failure of a host in a shared transaction' },
  { code: '42703', message: /^column "names" /, why: 'a column that a test takes away' },
  {
    code: '42P01',
    message: /^relation "(nowhere|meta|events|signals)" /,
    why: 'empty databases, and tables that are away',
  },
]

interface LoggedError {
  code: string
  message: string
  statement: string
}

/** How each line begins that is no continuation: with `log_line_prefix = '%e %p '`, by {@link LINE_PREFIX}. */
const LINE = /^([0-9A-Z]{5}) (\d+) ([A-Z]+): {2}(.*)$/

/** The setting of the server whose log {@link unexpectedErrors} reads. */
export const LINE_PREFIX = '%e %p '

/** The errors of a log that no test causes on purpose, each once, with its statement. */
export function unexpectedErrors(log: string): string[] {
  const unexpected = readErrors(log).filter((error) => !EXPECTED.some((expected) => isOf(expected, error)))
  return [...new Set(unexpected.map(({ code, message, statement }) => `${code} ${message}: ${statement}`))]
}

function isOf(expected: Expected, { code, message, statement }: LoggedError): boolean {
  return (
    expected.code === code && (expected.message?.test(message) ?? true) && (expected.statement?.test(statement) ?? true)
  )
}

/** Sessions write between each other's lines: each has its own last error. */
function readErrors(log: string): LoggedError[] {
  const errors: LoggedError[] = []
  const last = new Map<string, LoggedError>()
  for (const line of log.split('\n')) {
    const [, code = '', session = '', kind = '', text = ''] = LINE.exec(line) ?? []
    if (kind === 'ERROR' || kind === 'FATAL' || kind === 'PANIC') {
      const error = { code, message: text, statement: '' }
      errors.push(error)
      last.set(session, error)
    } else if (kind === 'STATEMENT') {
      const error = last.get(session)
      if (error) error.statement = text.trim()
    }
  }
  return errors
}
