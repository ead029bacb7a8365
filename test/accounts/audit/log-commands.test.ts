import { expect, it, onTestFinished } from 'vitest'
import { COMMANDS_MS, logCommands } from '../../../lib/accounts/audit/log-commands.ts'
import { createChatService, type Log, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { placementOf } from '../../support/placement.ts'
import { innerState, startService, times } from '../../support/service.ts'

interface Line {
  message: string
  subject_id?: string
}

/** A log, and its lines of the audit log. */
function keepLines() {
  const lines: Line[] = []
  const info = (message: string, fields?: object) => void (message === 'audit' && lines.push({ message, ...fields }))
  const log: Log = { debug() {}, info, warn() {}, error() {} }
  return { lines, log }
}

describeOnEachDatabase('acts of the command line', (openUrl) => {
  it('are a line in the log of exactly one of two running nodes, and of the command itself', async () => {
    const url = await openUrl()
    const [here, there, own] = [keepLines(), keepLines(), keepLines()]
    const nodes = [
      await startService(url, { ports: { log: here.log } }),
      await startService(url, { ports: { log: there.log } }),
    ]
    onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.close()))))
    await nodes[0]!.signIn('ada')

    const config = parseConfig({ security: { password: { bcrypt_cost: 4 } }, storage: { migrate: false } })
    const storage = await openStorage({ database: url, ...placementOf(url) })
    const command = createChatService(config, storage, { log: own.log, operator: 'grace' })
    await command.start({ background: false })
    const ids: string[] = []
    for (const n of times(120, (n) => n)) {
      const { user } = await command.users.create(OPERATOR, { username: `new-${n}`, email: `new-${n}@example.org` })
      ids.push(user.id)
    }
    await command.close()

    // The nodes also look by themselves, meanwhile.
    await Promise.all(nodes.flatMap(({ chat }) => [logCommands(innerState(chat)), logCommands(innerState(chat))]))
    const ofCommand = ({ subject_id }: Line) => ids.includes(subject_id ?? '')
    const logged = () => [...here.lines, ...there.lines].filter(ofCommand)
    await expect.poll(() => logged().length, { timeout: 30_000 }).toBeGreaterThanOrEqual(ids.length)
    for (const { chat } of nodes) await logCommands(innerState(chat))
    expect(
      logged()
        .map(({ subject_id }) => subject_id)
        .toSorted(),
    ).toEqual(ids.toSorted())

    const { act, operator, roles } = { act: 'user.created', operator: 'grace', roles: ['member'] }
    const line = { message: 'audit', act, operator, roles, subject_id: expect.any(String) }
    expect(logged()[0]).toEqual({ ...line, at: expect.stringMatching(/^20.*Z$/) })
    expect(own.lines.filter(ofCommand)).toEqual(ids.map((subject_id) => ({ ...line, subject_id })))
  })

  it('are logged by a node that runs on its own, within five seconds', async () => {
    expect(COMMANDS_MS).toBeLessThan(5_000)
    const url = await openUrl()
    const { lines, log } = keepLines()
    const node = await startService(url, { ports: { log } })
    onTestFinished(() => node.close())
    await node.signIn('ada')
    const storage = await openStorage({ database: url, ...placementOf(url) })
    const command = createChatService(parseConfig({ storage: { migrate: false } }), storage, { operator: 'grace' })
    await command.start({ background: false })
    const { user } = await command.users.create(OPERATOR, { username: 'new', email: 'new@example.org' })
    await command.close()
    await expect
      .poll(() => lines.filter(({ subject_id }) => subject_id === user.id), { timeout: 30_000 })
      .toHaveLength(1)
    // What the node itself does has one line as ever.
    expect(lines.filter((line) => (line as { act?: string }).act === 'setup.done')).toHaveLength(1)
  })
})
