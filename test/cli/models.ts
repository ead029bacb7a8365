import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A model server that lists these models to clients with the key, and fails otherwise. @returns its address */
export async function answersModels(ids: string[], key: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    if (url === '/v1/models' && headers.authorization !== `Bearer ${key}`) return void response.writeHead(401).end()
    if (url !== '/v1/models') return void response.writeHead(url?.startsWith('/broken') ? 500 : 404).end()
    response.end(JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
