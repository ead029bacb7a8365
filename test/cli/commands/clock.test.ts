import { expect, it } from 'vitest'
import { createFakeClock } from '../../support/faketime.ts'
import { folder, run } from '../process.ts'
import { logged, serve } from '../serving.ts'

const SLOW = { timeout: 120_000 }

/** A machine whose clock is as far off as it is set, at any moment. @returns `undefined` without `faketime` */
function createMachine() {
  const cwd = folder()
  const clock = createFakeClock(cwd)
  if (!clock) return undefined
  const where = { cwd, env: { ...clock.env, CHAT_LOG__FORMAT: 'json' } }
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args, where)
    return { code, stderr, answer: stdout.startsWith('{') ? JSON.parse(stdout) : undefined }
  }
  return { where, command, set: clock.set }
}

async function setUp({ where }: NonNullable<ReturnType<typeof createMachine>>) {
  const env = { ...where.env, CHAT_PASSWORD: 'correct horse battery' }
  const { code, stderr } = await run(['setup', '--email', 'ada@example.org'], { ...where, env })
  expect(code, stderr).toBe(0)
}

it('a service whose clock steps says so, and trusts it at the word of an operator', SLOW, async ({ skip }) => {
  const machine = createMachine()
  if (!machine) return skip('faketime is not installed')
  await setUp(machine)
  const service = await serve(machine.where)
  const stepped = logged(service, 'The clock has stepped: it is 400 days ahead')
  machine.set('+400d')
  await stepped
  const status = await machine.command('clock', 'status', '--json')
  expect(status.answer).toMatchObject({
    trusted: false,
    reason: expect.stringMatching(/^the clock is 400 days ahead after a step/),
  })
  const refused = await machine.command('events', 'prune')
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/Nothing was deleted: the clock is 400 days ahead/),
  ])
  const { answer } = await machine.command('doctor', '--json', '--read-only')
  expect(answer.findings).toContainEqual(expect.objectContaining({ code: 'clock.step', severity: 'error' }))
  const trusted = logged(service, 'The clock is trusted again')
  expect((await machine.command('clock', 'trust', '--json')).answer.trusted).toBe(true)
  await trusted
  const { entries } = (await machine.command('audit', 'list', '--act', 'clock.trusted', '--json')).answer
  expect(entries).toMatchObject([
    { act: 'clock.trusted', detail: { operator: expect.any(String), reason: expect.stringContaining('400 days') } },
  ])
  expect((await machine.command('events', 'prune', '--json')).code).toBe(0)
})

it(
  'commands that delete by age refuse a clock far from the last note, also without a service',
  SLOW,
  async ({ skip }) => {
    const machine = createMachine()
    if (!machine) return skip('faketime is not installed')
    await setUp(machine)
    // Its stop notes the clock.
    const service = await serve(machine.where)
    service.child.kill('SIGTERM')
    expect((await service.end).code).toBe(0)
    machine.set('+30d')
    expect((await machine.command('events', 'prune')).code).toBe(0)
    for (const [offset, text] of [
      ['+400d', /the clock is 400 days ahead of the time/],
      ['-3d', /the clock is 3 days behind the time/],
    ] as const) {
      machine.set(offset)
      for (const command of [
        ['events', 'prune'],
        ['attachments', 'gc'],
      ]) {
        const { code, stderr } = await machine.command(...command)
        expect([code, stderr], command.join(' ')).toEqual([1, expect.stringMatching(text)])
        expect((await machine.command(...command, '--accept-clock')).code).toBe(0)
      }
      expect((await machine.command('attachments', 'gc', '--dry-run')).code).toBe(0)
    }
  },
)

it(
  'commands see that the running service doubts its clock, also where their own clock is right',
  SLOW,
  async ({ skip }) => {
    const machine = createMachine()
    if (!machine) return skip('faketime is not installed')
    await setUp(machine)
    const service = await serve(machine.where)
    const stepped = logged(service, 'The clock has stepped: it is 400 days ahead')
    machine.set('+400d')
    await stepped
    const right = { cwd: machine.where.cwd }
    const reason = /the clock is 400 days ahead after a step, and the running service does not trust it yet/
    // Its note follows the log line by up to ten seconds.
    await expect
      .poll(async () => (await run(['clock', 'status'], right)).stdout, { timeout: 60_000, interval: 500 })
      .toMatch(reason)
    for (const command of [
      ['events', 'prune'],
      ['attachments', 'gc'],
    ]) {
      const { code, stderr } = await run(command, right)
      expect([code, stderr], command.join(' ')).toEqual([1, expect.stringMatching(reason)])
    }
    const { code, stdout } = await run(['doctor', '--json', '--read-only'], right)
    expect(code).toBe(1)
    const finding = { code: 'clock.step', severity: 'error', message: expect.stringMatching(/400 days ahead/) }
    expect(JSON.parse(stdout).findings).toContainEqual(expect.objectContaining(finding))
  },
)
