// The floor of calls over HTTP on Node: a body is posted again and again on connections that stay open, and nothing is stored.
import { Agent, createServer, request } from 'node:http'
import { listen } from './listen.ts'

const [url, parallel] = [process.argv[2]!, Number(process.argv[3])]
const agent = new Agent({ keepAlive: true, maxSockets: parallel })

/** Posts the body so many times, `parallel` at a time. */
async function postAll(body: Buffer, count: number): Promise<void> {
  let left = count
  const lane = async () => {
    while (left-- > 0) await post(body)
  }
  await Promise.all(Array.from({ length: parallel }, lane))
}

function post(body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const call = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', resolve)
    })
    call.once('error', reject).end(body)
  })
}

listen(
  createServer(async (control, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of control) chunks.push(chunk)
    await postAll(Buffer.concat(chunks), Number(new URL(control.url!, 'http://localhost').searchParams.get('count')))
    response.end()
  }),
)
