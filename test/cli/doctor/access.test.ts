import { expect, it } from 'vitest'
import { checkAccess } from '../../../cli/doctor/access.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, startService } from '../../support/service.ts'

describeOnEachDatabase('doctor', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: {
        access: { roles: { seller: { upload: true } }, participant_roles: { buyer: { rights: ['post'] } } },
        guests: { enabled: true, contacts: ['Ada', 'hopper', 'grace'] },
      },
    }),
  )

  it('names contacts of guests that no active person is', async () => {
    await service.signIn('ada')
    const grace = await service.signIn('grace')
    const { config, db } = innerState(service)
    const [finding, ...others] = await checkAccess(config, db)
    expect(others).toEqual([])
    expect(finding).toMatchObject({ code: 'guests.unknown_contacts', severity: 'warning' })
    expect(finding!.message).toContain('guests.contacts: hopper.')
    await db.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${grace.id}`)
    expect((await checkAccess(config, db))[0]!.message).toContain('guests.contacts: hopper, grace.')
    const off = { ...config, guests: { ...config.guests, enabled: false } }
    expect(await checkAccess(off, db)).toEqual([])
  })

  it('names roles of users and of participants that are not configured', async () => {
    const eve = await service.signIn('eve')
    const { config, db } = innerState(service)
    const off = { ...config, guests: { ...config.guests, enabled: false } }
    const { conversation_id } = await eve.conversations.create({ title: 'Shop' })
    const giveRoles = async (roles: string, role: string) => {
      await db.run(sql`UPDATE users SET roles = ${roles} WHERE id = ${eve.id}`)
      await db.run(sql`UPDATE participants SET role = ${role} WHERE conversation_id = ${conversation_id}`)
    }
    await giveRoles('member,seller', 'buyer')
    expect(await checkAccess(off, db)).toEqual([])
    await giveRoles('clerk,member', 'agent')
    const [finding] = await checkAccess(off, db)
    expect(finding).toMatchObject({ code: 'access.unknown_roles', severity: 'warning' })
    expect(finding!.message).toContain('rights: clerk, agent (participants).')
  })
})
