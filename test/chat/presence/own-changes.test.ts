import { describe, expect, it } from 'vitest'
import { createOwnChanges } from '../../../lib/chat/presence/own-changes.ts'
import { SECOND } from '../../../lib/core/units.ts'

/** The changes of a process with a held clock. */
function start() {
  let at = 1_000 * SECOND
  const changes = createOwnChanges(() => at)
  const pass = (seconds: number, present: string[] = []) => {
    at += seconds * SECOND
    return changes.due((userId) => present.includes(userId))
  }
  return { changes, pass }
}

describe('what a process lets others know', () => {
  it('is a status at once, and the same one again after 20 seconds', () => {
    const { changes, pass } = start()
    changes.addStatus('ada', 'away')
    expect(changes.take()).toEqual(['ada'])
    changes.addStatus('ada', 'away')
    expect(changes.take()).toEqual([])
    expect(pass(19)).toEqual([])
    expect(pass(1)).toEqual(['ada'])
    expect(changes.take()).toEqual(['ada'])
  })

  it('is every status that is still valid, when nothing is stored any more', () => {
    const { changes, pass } = start()
    changes.addStatus('ada', 'away')
    pass(30)
    changes.addStatus('grace', 'online')
    changes.addStatus('eve', 'offline')
    changes.take()
    pass(30)
    expect(changes.startAgain()).toEqual(['grace', 'eve'])
    pass(30)
    expect(changes.startAgain()).toEqual([])
  })

  it('is an older status, too, while its user is present: a stream elsewhere keeps it valid', () => {
    const { changes, pass } = start()
    changes.addStatus('ada', 'away')
    changes.addStatus('grace', 'away')
    changes.take()
    pass(600, ['ada'])
    expect(changes.startAgain()).toEqual(['ada'])
  })

  it('is a repeated status at once, when nothing is stored any more', () => {
    const { changes } = start()
    changes.addStatus('ada', 'away')
    changes.take()
    changes.startAgain()
    changes.addStatus('ada', 'away')
    expect(changes.take()).toEqual(['ada'])
  })
})
