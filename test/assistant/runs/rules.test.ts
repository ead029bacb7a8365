import { describe, expect, it } from 'vitest'
import { CALL_STATES, type CallAct, hasEnded, stateOfRun } from '../../../lib/chat/answers/rules-calls.ts'
import { ToolState } from '../../../lib/chat/answers/schema-parts.ts'

/** What the state of a call becomes; what is missing cannot happen. */
const TABLE: Record<CallAct, Partial<Record<ToolState, ToolState>>> = {
  ask: { requested: 'waiting' },
  exceed: { requested: 'denied' },
  approve: { waiting: 'approved' },
  deny: { waiting: 'denied' },
  expire: { waiting: 'expired' },
  refuse: { requested: 'failed', approved: 'failed' },
  start: { requested: 'running', approved: 'running' },
  restart: { running: 'running' },
  finish: { running: 'done' },
  fail: { running: 'failed' },
  lose: { running: 'unknown' },
  stop: { requested: 'cancelled', waiting: 'cancelled', approved: 'cancelled', running: 'unknown' },
}

describe('the life of a call', () => {
  const pairs = ToolState.options.flatMap((state) => Object.keys(TABLE).map((act) => [state, act as CallAct] as const))

  it.each(pairs)('of a call that is %s, %s', (state, act) => {
    expect(CALL_STATES[state][act]).toBe(TABLE[act][state])
  })

  it('ends in six states', () => {
    const ends = ToolState.options.filter(hasEnded)
    expect(ends).toEqual(['done', 'failed', 'denied', 'expired', 'unknown', 'cancelled'])
  })

  it('never starts twice but by a restart', () => {
    expect(Object.keys(CALL_STATES.running)).not.toContain('start')
  })

  it.each([
    [[], 'over'],
    [['done', 'failed', 'unknown'], 'over'],
    [['waiting'], 'waiting'],
    [['waiting', 'done'], 'waiting'],
    [['waiting', 'requested'], 'running'],
    [['waiting', 'approved'], 'running'],
    [['waiting', 'running'], 'running'],
    [['denied', 'approved'], 'running'],
  ] as [ToolState[], string][])('calls in %j make an answer %s', (states, state) => {
    expect(stateOfRun(states)).toBe(state)
  })
})
