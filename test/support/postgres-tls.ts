import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { MEMORY } from './memory.ts'
import { isInstalled, startCluster } from './postgres.ts'

/** Why there is no PostgreSQL with TLS on this machine, if so. */
export const withoutTls = isInstalled()
  ? spawnSync('openssl', ['version']).status === 0
    ? ''
    : 'openssl is not installed'
  : 'PostgreSQL is not installed'

/** The settings of TLS in a URL, such as `sslmode`. */
export type TlsSettings = Record<string, string>

/** A PostgreSQL server that takes connections by TCP. */
export interface TlsServer {
  /**
   * The URL of its database `postgres`. Its certificate is for `localhost`; `127.0.0.1` is another name. `0.0.0.0` leads
   * there as well, and looks like another machine.
   */
  urlOf(settings?: TlsSettings, host?: 'localhost' | '127.0.0.1' | '0.0.0.0'): string
  /** The file of the authority that signed its certificate, and of another one of the same name. */
  authority: string
  other_authority: string
  /** A certificate that the authority signed for the role `postgres`. */
  client: { sslcert: string; sslkey: string }
  /** Starts it again without TLS, or with TLS and connections without it refused. */
  use(tls: 'off' | 'required'): Promise<void>
  stop(): Promise<void>
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Starts a server that requires TLS, with a certificate of an authority of its own. */
export async function startTlsServer(): Promise<TlsServer> {
  const port = await freePort()
  const cluster = (await startCluster(MEMORY, { listen_addresses: '127.0.0.1', port }))!
  const folder = mkdtempSync(join(tmpdir(), 'chat-tls-'))
  createCertificates(folder)
  const data = join(new URL(cluster.url).searchParams.get('host')!, 'data')
  for (const name of ['server.pem', 'server.key', 'authority.pem']) {
    const { uid, gid } = statSync(data)
    copyFileSync(join(folder, name), join(data, name))
    chownSync(join(data, name), uid, gid)
    chmodSync(join(data, name), 0o600)
  }
  const use = (tls: 'off' | 'required') =>
    cluster.restart(async () => {
      const files = { ssl_cert_file: 'server.pem', ssl_key_file: 'server.key', ssl_ca_file: 'authority.pem' }
      const settings = Object.entries({ ssl: tls === 'off' ? 'off' : 'on', ...files })
      appendFileSync(join(data, 'postgresql.conf'), settings.map(([name, value]) => `${name} = '${value}'\n`).join(''))
      const kind = tls === 'off' ? 'host' : 'hostssl'
      writeFileSync(join(data, 'pg_hba.conf'), `local all all trust\n${kind} all all 127.0.0.1/32 trust\n`)
    })
  await use('required')
  return {
    urlOf: (settings = {}, host = 'localhost') =>
      `postgres://postgres@${host}:${port}/postgres?${new URLSearchParams(settings)}`,
    authority: join(folder, 'authority.pem'),
    other_authority: join(folder, 'other.pem'),
    client: { sslcert: join(folder, 'client.pem'), sslkey: join(folder, 'client.key') },
    use,
    async stop() {
      await cluster.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

function createCertificates(cwd: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd, stdio: 'ignore' })
  for (const name of ['authority', 'other'])
    openssl('req', '-x509', ...KEY, '-subj', '/CN=Test', '-days', '1', '-keyout', `${name}.key`, '-out', `${name}.pem`)
  writeFileSync(join(cwd, 'server.names'), 'subjectAltName = DNS:localhost\n')
  writeFileSync(join(cwd, 'client.names'), '')
  for (const [name, subject] of Object.entries({ server: 'localhost', client: 'postgres' })) {
    openssl('req', '-new', ...KEY, '-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const signed = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-set_serial', '1', '-extfile', `${name}.names`]
    openssl('x509', '-req', '-in', `${name}.csr`, '-days', '1', ...signed, '-out', `${name}.pem`)
  }
}
