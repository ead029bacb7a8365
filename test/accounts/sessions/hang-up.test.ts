import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, startService } from '../../support/service.ts'

describeOnEachDatabase('a client that disconnects while its password is checked', (openUrl) => {
  it('gets no session, and causes no error', async () => {
    const errors: string[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
    const config = { security: { password: { bcrypt_cost: 10 } } }
    const service = await startService(await openUrl(), { config, ports: { log } })
    await service.chat.setup.run({ email: 'ada@example.org', password: PASSWORD })

    const body = JSON.stringify({ email: 'ada@example.org', password: PASSWORD })
    const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
    const asked = once(service.server, 'request') as Promise<[IncomingMessage]>
    socket.write(
      `POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const [request] = await asked
    const gone = once(request.socket, 'close')
    socket.destroy()
    await gone

    // One password is checked at a time, so this one is the second.
    await service.signIn('ada')
    const sessions = await innerState(service).db.all(sql`SELECT id FROM sessions`)
    expect(sessions).toHaveLength(1)
    expect(errors).toEqual([])
    await service.close()
  })
})
