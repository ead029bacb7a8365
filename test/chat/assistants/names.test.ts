import { expect, it } from 'vitest'
import { checkUsernames } from '../../../cli/doctor/usernames.ts'
import { parseConfig } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, startService } from '../../support/service.ts'

const ASSISTANTS = { assistants: { helper: { provider: 'echo' } } } as const

describeOnEachDatabase('the key of an assistant', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { config: ASSISTANTS }))

  it('is a username that is taken, for users and bots, also if they are renamed', async () => {
    const root = await service.signIn('root')
    const email = 'new@example.org'
    expect(await codeOf(root.users.create({ username: 'Helper', email }))).toBe('username_taken')
    expect(await codeOf(root.auth.changeProfile({ username: 'helper' }))).toBe('username_taken')
    expect(await codeOf(root.users.change(root.id, { username: 'HELPER' }))).toBe('username_taken')
    expect(await codeOf(root.bots.create({ username: 'helper' }))).toBe('username_taken')
    const { bot } = await root.bots.create({ username: 'deploys' })
    expect(await codeOf(root.bots.change(bot.id, { username: 'helper' }))).toBe('username_taken')
    // Not offered by default, so it is a name as any other.
    expect((await root.users.create({ username: 'assistant', email })).user.username).toBe('assistant')
  })

  it('stays that of a user who had it before, whom doctor lists', async () => {
    const grace = await service.signIn('grace')
    const { db } = innerState(service)
    const config = parseConfig(ASSISTANTS)
    expect(await checkUsernames(db, config)).toEqual([])
    await db.run(sql`UPDATE users SET username = 'Helper', username_key = 'helper' WHERE id = ${grace.id}`)
    await grace.auth.changeProfile({ display_name: 'Grace Hopper' })
    expect(await checkUsernames(db, config)).toMatchObject([{ code: 'users.assistant_name', severity: 'warning' }])
  })
})
