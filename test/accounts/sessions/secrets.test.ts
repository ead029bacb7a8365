import { expect, it } from 'vitest'
import { statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { refreshByHand, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('a stolen database', (openUrl, dialect) => {
  it('contains no usable cookie, key, token or password', async () => {
    const secrets: Record<string, string> = { password: PASSWORD }
    let arrived: (token: string) => void
    const mailed = new Promise<string>((resolve) => {
      arrived = resolve
    })
    const service = await startService(await openUrl(), {
      ports: { mail: ({ token }) => void (token && arrived(token)) },
    })
    const ada: Person = await service.signIn('ada')
    const keep = (name: string, { cookie, 'x-csrf-token': csrf }: Record<string, string>) => {
      secrets[`session, ${name}`] = /SESSION_ID=([^;]+)/.exec(cookie!)![1]!
      secrets[`CSRF, ${name}`] = csrf!
    }
    const signedIn = await signInByHand(service.base_url, ada.email, PASSWORD)
    keep('before', signedIn)
    keep('after', await refreshByHand(service.base_url, signedIn))
    secrets.key = (await ada.keys.create({ name: 'bot' })).key
    const { conversation_id } = await ada.conversations.create()
    secrets.invite = (await ada.invites.create(conversation_id, {})).token!
    await ada.resets.request({ email: ada.email })
    secrets.mailed = await mailed

    const { db } = innerState(service)
    const tables = await db.all<{ name: string }>(
      statement(
        dialect === 'sqlite'
          ? "SELECT name FROM sqlite_master WHERE type = 'table'"
          : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
      ),
    )
    expect(tables.map((table) => table.name)).toEqual(
      expect.arrayContaining(['users', 'sessions', 'api_keys', 'password_resets', 'invites', 'audit_log']),
    )
    const dump: string[] = []
    for (const { name } of tables) dump.push(JSON.stringify(await db.all(statement(`SELECT * FROM ${name}`))))
    const text = dump.join('\n')
    for (const [name, secret] of Object.entries(secrets)) {
      expect(secret.length, name).toBeGreaterThanOrEqual(20)
      expect(text.includes(secret), name).toBe(false)
    }
    // Stored values are not accepted as tokens.
    for (const [, stored] of text.matchAll(/"(?:token_hash|csrf_hash|key_hash)":"([^"]+)"/g)) {
      const attempts: [string, string][] = [
        ['cookie', `SESSION_ID=${stored}`],
        ['authorization', `Bearer ${stored}`],
        ['authorization', `Bearer cs_${stored}`],
      ]
      for (const header of attempts)
        expect((await fetch(`${service.base_url}/api/auth/me`, { headers: [header] })).status).toBe(401)
    }
    await service.close()
  })
})
