import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { MEMORY } from './memory.ts'
import { type Cluster, startCluster } from './postgres.ts'

/** A cluster in which a role needs a password, as in production. */
export interface RoleCluster {
  /** A new database of `chat_app`, whose password is `first`. */
  createDatabase(): Promise<RoleDatabase>
  /** Runs a statement as the superuser, in the database `postgres`. */
  admin(sql: string): Promise<void>
  stop(): Promise<void>
}

/** A database as the documentation has it created, and how a role reaches it. */
export interface RoleDatabase {
  name: string
  urlFor(user: string, password: string): string
  /** Ends all its sessions. */
  endSessions(): Promise<void>
}

export async function startRoleCluster(): Promise<RoleCluster> {
  const cluster = (await startCluster(MEMORY))!
  await cluster.restart(() => requirePasswords(cluster))
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: cluster.url })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await admin("CREATE ROLE chat_app LOGIN PASSWORD 'first'")
  let databases = 0
  return {
    admin,
    stop: () => cluster.stop(),
    async createDatabase() {
      const name = `chat_${++databases}`
      await admin(`CREATE DATABASE ${name} OWNER chat_app`)
      await admin(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`)
      return {
        name,
        urlFor(user, password) {
          const url = new URL(cluster.databaseUrl(name))
          return Object.assign(url, { username: user, password }).href
        },
        endSessions: () =>
          admin(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`),
      }
    },
  }
}

/** All roles but the superuser sign in with their passwords. */
async function requirePasswords({ url }: Cluster): Promise<void> {
  const file = join(new URL(url).searchParams.get('host')!, 'data', 'pg_hba.conf')
  await writeFile(file, `local all postgres trust\nlocal all all scram-sha-256\n${await readFile(file, 'utf8')}`)
}
