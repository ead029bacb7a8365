import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../cli/logging/logger.ts'
import type { LogStream } from '../../../cli/logging/sink.ts'
import { oneLine, table } from '../../../cli/output.ts'

describe('the log', () => {
  it('is one JSON object per line without a terminal', async () => {
    const lines = await linesOf({ level: 'info', format: 'auto' }, {}, (log) =>
      log.warn('Signed in.', { user_id: 'u1' }),
    )
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'warn',
      message: 'Signed in.',
      user_id: 'u1',
    })
    expect(Object.keys(JSON.parse(lines[0]!)).slice(0, 3)).toEqual(['time', 'level', 'message'])
  })

  it('is readable on a terminal', async () => {
    const lines = await linesOf({ level: 'info', format: 'auto' }, { isTTY: true }, (log) =>
      log.info('Hi.', { a: 'b c', subject_id: undefined }),
    )
    expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d info {2}Hi\. a="b c"$/)])
  })

  it.each(['json', 'pretty'] as const)('stays one line as %s whatever is in it', async (format) => {
    const evil = 'a\r\nb\u001b[2Jc\u0085\u009b1m\u2028d\u202ee\u0000'
    const lines = await linesOf({ level: 'info', format }, {}, (log) =>
      log.info(evil, { evil, error: new Error(evil), [evil]: 1 }),
    )
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
    if (format === 'json')
      expect(JSON.parse(lines[0]!)).toMatchObject({ message: evil, evil, error: { message: evil } })
  })

  it.each(['json', 'pretty'] as const)('is at most 8 KiB long as %s, and complete', async (format) => {
    const long = 'x\r\n\u2028\u001b😀'.repeat(2048)
    const fields = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, 'y'.repeat(40)]))
    const error = new Error(long, { cause: new Error(long) })
    const lines = await linesOf({ level: 'info', format }, {}, (log) => {
      log.info('audit', { act: 'login.failed', ip: '::1', user_agent: long, detail: [long, long], error })
      log.info(long, fields)
      log.info('audit', { kept: 'z'.repeat(8000) })
    })
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8192)
    expect(lines[2]).toContain('z'.repeat(8000))
    if (format === 'pretty') return
    const [cut, fieldless] = lines.map((line) => JSON.parse(line))
    expect(cut).toMatchObject({ message: 'audit', act: 'login.failed', ip: '::1' })
    expect(cut.user_agent).toMatch(/^x\r\n\u2028.*…$/s)
    expect(fieldless).toEqual({ time: expect.any(String), level: 'info', message: expect.any(String), cut: true })
  })

  it('shows where an error came from, and its cause', async () => {
    const error = new TypeError('outer', { cause: Object.assign(new Error('inner'), { code: 'EPIPE' }) })
    const [line] = await linesOf({ level: 'info', format: 'json' }, {}, (log) => log.error('Failed.', { error }))
    expect(JSON.parse(line!).error).toEqual({
      name: 'TypeError',
      message: 'outer',
      frames: expect.arrayContaining([expect.stringContaining('logger.test.ts')]),
      cause: expect.objectContaining({ message: 'inner', code: 'EPIPE' }),
    })
  })

  it('lets no field replace the level or the message, and accepts values that JSON does not', async () => {
    const fields = { level: 'debug', message: 'forged', time: 'then', big: 2n ** 64n, nothing: undefined }
    const [line] = await linesOf({ level: 'info', format: 'json' }, {}, (log) => log.info('Real.', fields))
    expect(JSON.parse(line!)).toMatchObject({ level: 'info', message: 'Real.', big: '18446744073709551616' })
    expect(JSON.parse(line!).time).not.toBe('then')
  })

  it.each([
    ['silent', []],
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('at level %s writes %j', async (level, written) => {
    const lines = await linesOf({ level, format: 'json' }, {}, (log) => {
      for (const each of ['error', 'warn', 'info', 'debug'] as const) log[each]('x')
    })
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(written)
  })

  it('writes equal lines as often as they are logged', async () => {
    const lines = await linesOf({ level: 'info', format: 'json' }, {}, (log) => {
      for (let i = 0; i < 50; i++) log.warn('Wrong password.', { ip: '::1' })
    })
    expect(lines).toHaveLength(50)
  })
})

describe('output', () => {
  it('escapes characters that cannot be printed', () => {
    expect(oneLine('a\tb\nc\rd\u001be é 👋🏽')).toBe('a\\tb\\nc\\rd\\u001be é 👋🏽')
  })

  it('aligns rows under their headings', () => {
    expect(
      table(
        ['A', 'LONG'],
        [
          ['x\n', 'y'],
          ['longer', ''],
        ],
      ),
    ).toBe('A       LONG\nx\\n     y\nlonger')
  })
})

/** The log, with any fields. */
type AnyLog = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: Record<string, unknown>) => void>

async function linesOf(
  config: Parameters<typeof createLogger>[0],
  stream: { isTTY?: boolean },
  work: (log: AnyLog) => void,
): Promise<string[]> {
  let text = ''
  const sink: LogStream = {
    ...stream,
    write: (chunk) => {
      text += chunk
    },
  }
  work(createLogger(config, sink) as AnyLog)
  await nextTurn()
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
