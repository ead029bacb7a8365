import { once } from 'node:events'
import { createServer as createProxy } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createServer as createTlsServer } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { createLiveConfig } from '../../lib/config/live.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import type { OutgoingFailure } from '../../lib/outgoing/failure.ts'
import { createResolve } from '../../lib/outgoing/names.ts'
import { createOutgoing } from '../../lib/outgoing/outgoing.ts'
import { startDnsServer } from '../support/dns-server.ts'
import {
  createCertificate,
  hasOpenssl,
  LONG_MS,
  onRequests,
  openNames,
  openOutgoing,
  outcomeOf,
  startReceiver,
} from './outgoing.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const answerAll = (socket: Parameters<typeof onRequests>[0]) => onRequests(socket, () => socket.write(OK))

it('makes no call after it is closed', async () => {
  const { port, sockets } = await startReceiver(answerAll)
  const outgoing = openOutgoing({ allowed_networks: ['127.0.0.0/8'], allowed_ports: [port], allow_http: true })
  outgoing.close()
  expect(await outcomeOf(outgoing.call(`http://127.0.0.1:${port}/`, { timeout_ms: LONG_MS }))).toBe('connect')
  expect(sockets).toEqual([])
})

it('connects to no address of this machine, by whatever name', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
  const receivers = await Promise.all([
    startReceiver(answerAll, { host: '::' }).catch(() => startReceiver(answerAll, { host: '0.0.0.0' })),
  ])
  const { port } = receivers[0]!
  const { resolve } = await openNames(({ name, type }) => {
    const address = own.concat('0.0.0.0', '::')[Number(name.split('.')[0]!.slice(1))]!
    return address.includes(':') === (type === 'AAAA') ? [address] : []
  })
  const outgoing = openOutgoing({ allowed_networks: [], allowed_ports: [port] }, { resolve })
  const literals = own.concat('0.0.0.0', '::').map((address) => (address.includes(':') ? `[${address}]` : address))
  const names = own.concat('0.0.0.0', '::').map((_address, n) => `n${n}.test`)
  const others = ['localhost', 'a.localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '0']
  for (const host of [...literals, ...names, ...others])
    expect([host, await outcomeOf(outgoing.call(`http://${host}:${port}/`, { timeout_ms: LONG_MS }))]).toEqual([
      host,
      'address_forbidden',
    ])
  expect(receivers.flatMap(({ sockets }) => sockets)).toEqual([])
})

it('asks for a name once a call, and connects to the addresses of that answer only', async () => {
  const inside = await startReceiver(answerAll, { host: '127.0.0.1' })
  const outside = await startReceiver(answerAll, { host: '127.0.0.2', port: inside.port })
  // First an address that is let through, then one that is not: a second look would lead there.
  const { resolve, questions } = await openNames(({ type, before }) =>
    type === 'AAAA' ? [] : [before === 0 ? '127.0.0.2' : '127.0.0.1'],
  )
  const outgoing = openOutgoing({ allowed_networks: ['127.0.0.2'], allowed_ports: [inside.port] }, { resolve })
  const call = () =>
    outcomeOf(outgoing.call(`http://rebind.test:${inside.port}/`, { timeout_ms: LONG_MS, max_body: 9 }))
  expect(await call()).toBe(200)
  expect(questions.sort()).toEqual(['A rebind.test', 'AAAA rebind.test'])
  // The connection that is kept leads to the first address, which the name no longer has.
  expect(await call()).toBe('address_forbidden')
  expect([inside.sockets.length, outside.sockets.length]).toEqual([0, 1])
})

it('passes over the forbidden addresses of a name, of either family, behind a CNAME, too', async () => {
  const { port, sockets } = await startReceiver(answerAll, { host: '127.0.0.2' })
  const inside = await startReceiver(answerAll, { host: '127.0.0.1', port })
  const { resolve } = await openNames(({ name, type }) => {
    const addresses = type === 'A' ? ['127.0.0.1', '10.0.0.1', '127.0.0.2'] : ['::1', '::ffff:127.0.0.1', 'fd00::1']
    return name === 'alias.test' ? ['inner.test', ...addresses] : addresses
  })
  const outgoing = openOutgoing({ allowed_networks: ['127.0.0.2'], allowed_ports: [port] }, { resolve })
  for (const name of ['mixed.test', 'alias.test'])
    expect(await outcomeOf(outgoing.call(`http://${name}:${port}/`, { timeout_ms: LONG_MS, max_body: 9 }))).toBe(200)
  expect([sockets.length, inside.sockets.length]).toEqual([2, 0])
})

it('tries the next address when one takes no connection', async () => {
  const { port, sockets } = await startReceiver(answerAll, { host: '127.0.0.3' })
  const { resolve } = await openNames(({ type }) => (type === 'A' ? ['127.0.0.2', '127.0.0.3'] : []))
  const outgoing = openOutgoing({ allowed_ports: [port] }, { resolve })
  for (let n = 0; n < 3; n++)
    expect(await outcomeOf(outgoing.call(`http://two.test:${port}/`, { timeout_ms: LONG_MS, max_body: 9 }))).toBe(200)
  // The one with a connection that is kept comes first.
  expect(sockets).toHaveLength(1)
})

it('says when a name has no address, and when its servers do not answer', async () => {
  const { resolve } = await openNames(({ name, type }) => {
    if (name === 'silent.invalid') return 'silence'
    if (name === 'half.test') return type === 'A' ? ['127.0.0.2'] : 'silence'
    return undefined
  })
  const { port } = await startReceiver(answerAll, { host: '127.0.0.2' })
  const outgoing = openOutgoing({ allowed_ports: [port] }, { resolve })
  const call = (name: string, timeout_ms = LONG_MS) =>
    outcomeOf(outgoing.call(`http://${name}:${port}/`, { timeout_ms, max_body: 9 }))
  expect(await call('none.invalid')).toBe('dns')
  expect(await call('silent.invalid', 50)).toBe('timeout')
  expect(await call('half.test')).toBe(200)
})

it('shares the questions of calls that wait for one name', async () => {
  const { resolve, questions } = await openNames(({ type }) => (type === 'A' ? ['127.0.0.2'] : []))
  expect(await Promise.all([resolve('one.test'), resolve('one.test'), resolve('one.test')])).toEqual([
    ['127.0.0.2'],
    ['127.0.0.2'],
    ['127.0.0.2'],
  ])
  expect(questions).toHaveLength(2)
})

it('asks the system for two names at a time, while a bounded number waits', async () => {
  const dns = await startDnsServer(() => undefined)
  onTestFinished(() => dns.close())
  const asked: [name: string, answer: (addresses: string[]) => void][] = []
  const system = (name: string) => new Promise<string[]>((resolve) => void asked.push([name, resolve]))
  const resolve = createResolve({ servers: [dns.address], system })
  const names = Array.from({ length: 103 }, (_, n) => `n${n}.test`)
  const answers = names.map((name) => resolve(name).catch((error: OutgoingFailure) => error.reason))
  // One too many is refused, once the servers have answered for all.
  expect(await Promise.race(answers)).toBe('dns')
  expect(asked).toHaveLength(2)
  let before = 0
  while (before < asked.length) {
    asked[before++]![1](['127.0.0.2'])
    await new Promise(setImmediate)
    expect(asked.length - before).toBeLessThanOrEqual(2)
  }
  const outcomes = await Promise.all(answers)
  expect(outcomes.filter((outcome) => outcome === 'dns')).toHaveLength(1)
  expect(before).toBe(102)
})

it('keeps connections apart by name', async () => {
  const { port, sockets } = await startReceiver(answerAll, { host: '127.0.0.2' })
  const { resolve } = await openNames(({ type }) => (type === 'A' ? ['127.0.0.2'] : []))
  const outgoing = openOutgoing({ allowed_ports: [port] }, { resolve })
  for (const name of ['one.test', 'other.test', 'one.test', 'other.test'])
    await outgoing.call(`http://${name}:${port}/`, { timeout_ms: LONG_MS, max_body: 9 })
  expect(sockets).toHaveLength(2)
})

it('follows a reload: networks, ports and http', async () => {
  const { port, sockets } = await startReceiver(answerAll)
  const configOf = (outgoing: object) =>
    parseConfig({ outgoing: { allowed_ports: [port], allow_http: true, ...outgoing } })
  const live = createLiveConfig(configOf({ allowed_networks: ['127.0.0.0/8'] }))
  const outgoing = createOutgoing({ config: live.view })
  onTestFinished(() => outgoing.close())
  const call = () => outcomeOf(outgoing.call(`http://127.0.0.1:${port}/`, { timeout_ms: LONG_MS, max_body: 9 }))
  expect(await call()).toBe(200)
  for (const closed of [
    {},
    { allowed_networks: ['127.0.0.0/8'], allowed_ports: [443] },
    { allowed_networks: ['127.0.0.0/8'], allow_http: false },
  ]) {
    live.replace(configOf(closed))
    expect(await call()).toBe('address_forbidden')
  }
  expect(sockets).toHaveLength(1)
})

it('knows which hosts are of this machine or its network', async () => {
  const outgoing = openOutgoing({ allowed_networks: ['10.1.0.0/16'] })
  const hosts = ['localhost', '127.0.0.1', '[::1]', '10.2.0.1', '10.1.0.1', '8.8.8.8', 'no-such-name.invalid']
  expect(await Promise.all(hosts.map((host) => outgoing.isInternal(host)))).toEqual([
    ...[true, true, true, true, false, false, false],
  ])
})

it('refuses its own service, whatever is opened', async () => {
  const { port, sockets } = await startReceiver(answerAll)
  const outgoing = openOutgoing({ allowed_ports: [port] }, { public_url: `http://127.0.0.1:${port}/chat` })
  expect(outgoing.isCallable(`http://127.0.0.1:${port}/chat/api/me`)).toBe(false)
  expect(await outcomeOf(outgoing.call(`http://127.0.0.1:${port}/chat`, { timeout_ms: LONG_MS }))).toBe(
    'address_forbidden',
  )
  expect(sockets).toHaveLength(0)
})

it.runIf(hasOpenssl)('checks the certificate for the name, while it connects to the address (openssl)', async () => {
  const names: (string | false | null)[] = []
  const { key, cert } = createCertificate('hook.test')
  const server = createTlsServer({ key, cert }, (socket) => {
    names.push(socket.servername)
    socket.on('error', () => {})
    onRequests(socket, () => socket.write(OK))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const plain = await startReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  const { resolve } = await openNames(({ type }) => (type === 'A' ? ['127.0.0.1'] : []))
  const options = { allow_http: false, allowed_ports: [port, plain.port] }
  const trusting = openOutgoing(options, { resolve, authorities: cert })
  const call = (outgoing: typeof trusting, host: string, at = port) =>
    outcomeOf(outgoing.call(`https://${host}:${at}/`, { timeout_ms: LONG_MS, max_body: 9 }))
  expect(await call(trusting, 'hook.test')).toBe(200)
  expect(await call(trusting, 'hook.test')).toBe(200)
  expect(names).toEqual(['hook.test'])
  expect(await call(trusting, 'other.test')).toBe('tls')
  expect(await call(trusting, '127.0.0.1')).toBe('tls')
  expect(await call(openOutgoing(options, { resolve }), 'hook.test')).toBe('tls')
  expect(await call(trusting, 'hook.test', plain.port)).toBe('tls')
})

it('gives a proxy the address that was judged, and the receiver the name', async () => {
  const requests: string[] = []
  const receiver = await startReceiver(
    (socket) =>
      onRequests(socket, (text) => {
        requests.push(/^host: (.*)$/im.exec(text)![1]!.trim())
        socket.write(OK)
      }),
    { host: '127.0.0.2' },
  )
  const tunnels: [place: string | undefined, credentials: string | undefined][] = []
  const proxy = createProxy()
  proxy.on('connect', ({ url, headers }, client) => {
    tunnels.push([url, headers['proxy-authorization']])
    client.on('error', () => {})
    if (headers['proxy-authorization'] === undefined) return client.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n')
    const upstream = connect(receiver.port, '127.0.0.2', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const place = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const { resolve } = await openNames(({ name, type }) =>
    type === 'A' ? [name === 'in.test' ? '127.0.0.9' : '127.0.0.2'] : [],
  )
  const options = { allowed_networks: ['127.0.0.2'], allowed_ports: [receiver.port] }
  const call = (proxy: string, name: string) => {
    const outgoing = openOutgoing({ ...options, proxy }, { resolve })
    return outcomeOf(outgoing.call(`http://${name}:${receiver.port}/`, { timeout_ms: LONG_MS, max_body: 9 }))
  }
  expect(await call(`http://me:a%40b@${place}`, 'hook.test')).toBe(200)
  expect(await call(`http://${place}`, 'hook.test')).toBe('connect')
  expect(await call('http://127.0.0.1:2', 'hook.test')).toBe('connect')
  expect(await call(`http://${place}`, 'in.test')).toBe('address_forbidden')
  expect(tunnels).toEqual([
    [`127.0.0.2:${receiver.port}`, `Basic ${Buffer.from('me:a@b').toString('base64')}`],
    [`127.0.0.2:${receiver.port}`, undefined],
  ])
  expect(requests).toEqual([`hook.test:${receiver.port}`])
})
