import { expect, it, vi } from 'vitest'
import { createChatApp } from '../../../lib/http/index.ts'
import { PASSWORD, startService } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

it('reads the Cookie header of a request once', async () => {
  const service = await startService('sqlite::memory:')
  const ada = await service.signIn('ada')
  const headers = await signInByHand(service.base_url, ada.email, PASSWORD)
  const request = new Request('http://localhost/api/auth/refresh', { method: 'POST', headers })
  const get = vi.spyOn(request.headers, 'get')
  const response = await createChatApp(service.chat).fetch(request)
  expect(response.status).toBe(200)
  expect(get.mock.calls.filter(([name]) => name.toLowerCase() === 'cookie')).toHaveLength(1)
  await service.close()
})
