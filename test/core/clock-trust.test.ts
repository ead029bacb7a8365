import { describe, expect, it } from 'vitest'
import { createClock } from '../../lib/core/clock.ts'
import { clockDoubt, describeStep } from '../../lib/core/clock-trust.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/core/units.ts'

const BEGAN = Date.UTC(2030, 0, 1) * 1000

/** A machine: time passes on both of its clocks, steps are of one. */
function createMachine() {
  const machine = { wall: BEGAN, monotonic: 0 }
  return {
    wall: () => machine.wall,
    monotonic: () => machine.monotonic,
    pass(micros: number) {
      machine.wall += micros
      machine.monotonic += micros
    },
    step(micros: number) {
      machine.wall += micros
    },
    /** The machine sleeps, or the process does not run: the monotonic clock stands still. */
    sleep(micros: number) {
      machine.wall += micros
    },
  }
}

/** A service on a machine, which looks at its clock every ten seconds, as the job does. */
function startOn(machine: ReturnType<typeof createMachine>, isShared = false) {
  const lines: string[] = []
  const clock = createClock(
    { isShared },
    {
      stepped: (step, change) => void lines.push(`${describeStep(step)}${step === change ? '' : ', again'}`),
      trusted: (isBack) => void lines.push(isBack ? 'right again' : 'trusted'),
    },
    machine,
  )
  return {
    clock,
    lines,
    isTrusted: () => clock.step() === 0,
    run(micros: number) {
      for (let left = micros; left > 0; left -= 10 * SECOND) {
        machine.pass(Math.min(left, 10 * SECOND))
        clock.step()
      }
    },
  }
}

const LENGTHS = [
  ['minutes', 20 * MINUTE, HOUR],
  ['hours', 8 * HOUR, HOUR],
  ['days', 3 * DAY, HOUR],
  ['years', 400 * DAY, DAY],
] as const
const DIRECTIONS = [
  ['forward', 1],
  ['back', -1],
] as const
const ROWS = LENGTHS.flatMap(([unit, length, wait]) =>
  DIRECTIONS.map(([direction, sign]) => ({ direction, unit, step: sign * length, wait })),
)

describe.each(ROWS)('a step $direction by $unit', ({ step, wait }) => {
  it('of a running service: nothing is deleted by age, and sessions do not notice it, until it is trusted', () => {
    const machine = createMachine()
    const service = startOn(machine)
    service.run(2 * HOUR)
    const before = service.clock.now()
    machine.step(step)
    // At once: not even the next look of the job is needed.
    expect(service.clock.before(0)).toBeUndefined()
    expect(service.clock.now()).toBe(before + step)
    expect(service.clock.sessionNow()).toBe(before)
    expect(service.clock.step()).toBe(step)
    service.run(wait - 2 * MINUTE)
    expect(service.isTrusted()).toBe(false)
    expect(service.clock.sessionNow()).toBe(before + wait - 2 * MINUTE)
    service.run(4 * MINUTE)
    expect(service.isTrusted()).toBe(true)
    expect(service.clock.sessionNow()).toBe(service.clock.now())
    expect(service.clock.before(HOUR)).toBe(service.clock.now() - HOUR)
  })

  it('of a running service that is undone: the clock is trusted at once', () => {
    const machine = createMachine()
    const service = startOn(machine)
    service.run(HOUR)
    machine.step(step)
    service.run(MINUTE)
    machine.step(-step)
    expect(service.isTrusted()).toBe(true)
    expect(service.lines.at(-1)).toBe('right again')
  })

  it('while no service ran: nothing is deleted by age, and sessions follow the clock', () => {
    const machine = createMachine()
    machine.step(step)
    const service = startOn(machine)
    service.clock.begin(BEGAN, undefined)
    const isStep = step < 0 || step > HOUR
    expect(service.isTrusted()).toBe(!isStep)
    expect(service.clock.sessionNow()).toBe(service.clock.now())
    service.run(wait + 2 * MINUTE)
    expect(service.isTrusted()).toBe(true)
  })

  it('of the machine of the database: the nodes notice it as one of their own', () => {
    const [machine, database] = [createMachine(), createMachine()]
    const service = startOn(machine, true)
    const learn = () => service.clock.learn(machine.monotonic(), database.wall(), machine.monotonic())
    learn()
    database.step(step)
    expect(service.isTrusted()).toBe(true)
    learn()
    expect(service.clock.before(0)).toBeUndefined()
    expect(service.clock.now()).toBe(BEGAN + step)
    expect(service.clock.sessionNow()).toBe(BEGAN)
  })

  it('of one node on PostgreSQL: nothing changes, and the node knows the difference', () => {
    const [machine, database] = [createMachine(), createMachine()]
    const service = startOn(machine, true)
    const learn = () => service.clock.learn(machine.monotonic(), database.wall(), machine.monotonic())
    learn()
    machine.step(step)
    expect(service.clock.now()).toBe(BEGAN)
    learn()
    expect([service.clock.now(), service.isTrusted()]).toEqual([BEGAN, true])
    expect(service.clock.difference()).toBe(-step)
  })

  it('of one node on PostgreSQL before its start: instants are right from the first answer on', () => {
    const [machine, database] = [createMachine(), createMachine()]
    machine.step(step)
    const service = startOn(machine, true)
    service.clock.learn(machine.monotonic(), database.wall(), machine.monotonic())
    service.clock.begin(BEGAN, undefined)
    expect([service.clock.now(), service.isTrusted()]).toEqual([BEGAN, true])
  })
})

describe('the wait for trust', () => {
  it('is added up over restarts', () => {
    const machine = createMachine()
    machine.step(3 * DAY)
    const first = startOn(machine)
    first.clock.begin(BEGAN, undefined)
    first.run(40 * MINUTE)
    const record = first.clock.record()!
    machine.sleep(10 * HOUR)
    const second = startOn(machine)
    second.clock.begin(BEGAN, record)
    second.run(15 * MINUTE)
    expect(second.isTrusted()).toBe(false)
    second.run(10 * MINUTE)
    expect(second.isTrusted()).toBe(true)
  })

  it('begins anew after another step, but not when a machine sleeps', () => {
    const machine = createMachine()
    const service = startOn(machine)
    machine.step(8 * HOUR)
    service.run(50 * MINUTE)
    machine.sleep(8 * HOUR)
    service.run(15 * MINUTE)
    expect(service.isTrusted()).toBe(true)
    machine.step(3 * DAY)
    service.run(50 * MINUTE)
    machine.step(3 * DAY)
    service.run(50 * MINUTE)
    expect(service.isTrusted()).toBe(false)
    machine.step(-3 * DAY)
    service.run(50 * MINUTE)
    expect(service.isTrusted()).toBe(false)
    service.run(15 * MINUTE)
    expect(service.isTrusted()).toBe(true)
  })

  it('ends when an operator declares the clock as right, and not by the note of before', () => {
    const machine = createMachine()
    const service = startOn(machine)
    service.clock.begin(BEGAN - MINUTE, undefined)
    machine.step(20 * MINUTE)
    expect(service.isTrusted()).toBe(false)
    service.clock.noted(BEGAN - MINUTE)
    expect(service.isTrusted()).toBe(false)
    service.clock.noted(service.clock.now())
    expect(service.isTrusted()).toBe(true)
  })

  it('goes on after a restart that the note alone would not show', () => {
    const machine = createMachine()
    const first = startOn(machine)
    machine.step(30 * MINUTE)
    first.run(10 * MINUTE)
    const second = startOn(machine)
    second.clock.begin(BEGAN, first.clock.record())
    expect(second.isTrusted()).toBe(false)
    expect(second.clock.step()).toBe(30 * MINUTE)
    machine.step(-30 * MINUTE)
    expect(second.isTrusted()).toBe(true)
  })

  it('is over when the clock was right again before the restart', () => {
    const machine = createMachine()
    const service = startOn(machine)
    service.clock.begin(BEGAN, { seen_at: BEGAN + 400 * DAY, step: 400 * DAY, ran: MINUTE })
    expect(service.isTrusted()).toBe(true)
    expect(service.lines).toEqual(['right again'])
  })
})

it('finds a clock that runs away slowly, and follows one that is a little inexact for ever', () => {
  const machine = createMachine()
  const service = startOn(machine)
  for (let minute = 0; minute < 24 * 60; minute++) {
    service.run(MINUTE)
    machine.step(4 * SECOND)
  }
  expect(service.lines).toEqual([])
  for (let minute = 0; minute < 30; minute++) {
    service.run(MINUTE)
    machine.step(11 * SECOND)
  }
  expect(service.isTrusted()).toBe(false)
})

it('trusts the clock of a database without a note, and one of the host always', () => {
  const machine = createMachine()
  const service = startOn(machine)
  service.clock.begin(undefined, undefined)
  expect(service.isTrusted()).toBe(true)
  let held = BEGAN
  const clock = createClock({ held: () => held, isShared: false }, { stepped() {}, trusted() {} }, machine)
  held += 400 * DAY
  machine.step(400 * DAY)
  expect([clock.step(), clock.before(0), clock.sessionNow()]).toEqual([0, held, held])
})

it('keeps its time while answers of the database are slow, and within what they can show', () => {
  const machine = createMachine()
  const service = startOn(machine, true)
  service.clock.learn(-10 * SECOND, BEGAN - 4 * SECOND, 0)
  expect(service.clock.now()).toBe(BEGAN)
  service.clock.learn(-SECOND, BEGAN + 3 * SECOND, 0)
  expect(service.clock.now()).toBe(BEGAN + 3 * SECOND)
})

it.each([
  ['no note', 0, {}, false],
  ['a service that stopped a month ago', 30 * DAY, { note: BEGAN }, false],
  ['a note of four months ago', 120 * DAY, { note: BEGAN }, true],
  ['a note that is later by an hour', -HOUR, { note: BEGAN }, true],
  ['a service that does not trust the clock', MINUTE, { note: BEGAN, record: BEGAN }, true],
  ['one that has died since', DAY, { note: BEGAN, record: BEGAN }, false],
])('doubts the clock of a command: %s', (_, later, { note, record }: { note?: number; record?: number }, isDoubted) => {
  const notes = { note, record: record === undefined ? undefined : { seen_at: record, step: 3 * DAY, ran: 0 } }
  expect(clockDoubt(BEGAN + later, notes) !== undefined).toBe(isDoubted)
})
