import { expect, it } from 'vitest'
import { deliverByHost } from '../../lib/mail/delivery.ts'
import { startService } from '../support/service.ts'

it('a service closes while a function of the host never returns', async () => {
  let called = false
  const service = await startService('sqlite::memory:', {
    ports: {
      mail() {
        called = true
        return new Promise<void>(() => {})
      },
    },
  })
  const { email } = await service.signIn('founder')
  await service.client().resets.request({ email })
  await expect.poll(() => called, { timeout: 30_000 }).toBe(true)
  // The limit of the test is well below the minute that the host may take.
  await service.close()
}, 40_000)

it('a delivery that begins while the service stops ends at once', async () => {
  const message = { id: '', kind: 'invite' as const, to: '', subject: '', text: '', token: 'x' }
  const deliver = deliverByHost(() => new Promise(() => {}))
  expect(await deliver(async () => message, AbortSignal.abort())).toMatchObject({ status: 'retry' })
})
