import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Cluster, startCluster } from '../../support/postgres.ts'
import { type Mount, mountSmall } from './mounts.ts'
import { POSTGRES_FAULTS, POSTGRES_RESTARTS, ROLE, restarting } from './postgres-faults.ts'
import { startProxy } from './proxy.ts'
import { endure, type Figures } from './stage.ts'

/** Mebibytes: an empty database needs eight. */
const SMALL = 24

/**
 * Runs a fault of a PostgreSQL.
 *
 * @returns the result, or the reason why the fault cannot be injected here
 */
export async function endurePostgres(
  name: string,
  options: { cycles: number; lasts_ms?: number },
): Promise<Figures | string> {
  const needsMount = POSTGRES_FAULTS[name]?.needs === 'mount'
  const mount = needsMount ? mountSmall(SMALL) : undefined
  if (needsMount && !mount) return 'nothing may be mounted'
  try {
    const cluster = await startCluster()
    if (!cluster) return 'PostgreSQL is not installed'
    return await endureOn(cluster, name, mount, options).finally(() => cluster.stop())
  } finally {
    mount?.remove()
  }
}

async function endureOn(
  cluster: Cluster,
  name: string,
  mount: Mount | undefined,
  { cycles, lasts_ms }: { cycles: number; lasts_ms?: number },
): Promise<Figures> {
  await createDatabase(cluster, mount)
  const url = new URL(cluster.databaseUrl('faulty'))
  if (name in POSTGRES_RESTARTS) {
    const fault = { name, ...restarting(name, cluster, lasts_ms) }
    return endure(fault, { database: 'postgresql', url: url.href, cycles })
  }
  const sessions = [new pg.Client(url.href), new pg.Client(url.href)] as const
  for (const session of sessions) await session.connect()
  url.username = ROLE
  const proxy = await startProxy(url.href)
  try {
    const [admin, other] = sessions
    const fault = { name, ...POSTGRES_FAULTS[name]!.make({ cluster, proxy, admin, other, mount, lasts_ms }) }
    return await endure(fault, { database: 'postgresql', url: proxy.url, cycles })
  } finally {
    await proxy.close()
    for (const session of sessions) await session.end()
  }
}

/** A database of the role, on the small file system if there is one. */
async function createDatabase(cluster: Cluster, mount: Mount | undefined): Promise<void> {
  const admin = new pg.Client(cluster.url)
  await admin.connect()
  await admin.query(`CREATE ROLE ${ROLE} LOGIN`)
  if (mount) {
    const folder = join(mount.path, 'tablespace')
    mkdirSync(folder)
    const [uid, gid] = ownerOf(cluster.pid)
    chownSync(mount.path, uid, gid)
    chownSync(folder, uid, gid)
    await admin.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
  }
  await admin.query(`CREATE DATABASE faulty OWNER ${ROLE}${mount ? ' TABLESPACE small' : ''}`)
  await admin.end()
}

function ownerOf(pid: number): [uid: number, gid: number] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const idOf = (name: string) => Number(new RegExp(`^${name}:\\t(\\d+)`, 'm').exec(status)![1])
  return [idOf('Uid'), idOf('Gid')]
}
