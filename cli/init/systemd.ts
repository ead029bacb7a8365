import { dirname, extname, resolve } from 'node:path'
import { type Facts, runtimeFolder, stopTimeout, writableFolders } from './facts.ts'
import { execLine, shellWord, unitPath } from './quote.ts'
import type { Replacement, Target } from './target.ts'

/** A unit of the machine, or with `--user` of the user that runs the command. */
export const systemd: Target = {
  description: 'Write a sandboxed unit for systemd; with --user, one for the service manager of your own user',
  args: { user: { type: 'boolean', description: 'A unit of your own user, which needs no root' } },
  files: (facts) => [
    {
      name: 'chat-server.service',
      example: `examples/deploy/chat-server${facts.user ? '-user' : ''}.service`,
      replace: [
        ['/usr/local/bin/chat-server', execLine(facts.program)],
        [`${configFolder(facts)}/chat-server.toml`, configPath(facts)],
        ['TimeoutStopSec=30', `TimeoutStopSec=${stopTimeout(facts.config)}`],
        ['(10000)', `(${facts.config.server.max_connections})`],
        ['LimitNOFILE=20000', `LimitNOFILE=${2 * facts.config.server.max_connections}`],
        ...(facts.user ? [] : sandboxOf(facts)),
      ],
    },
  ],
  notes: ({ program, user }) =>
    !user && program.some((path) => /^\/(home|root|run\/user)\//.test(path))
      ? [
          `The unit runs ${program.join(' ')}, which it cannot read: ProtectHome=yes hides home folders. Install Node and chat-server outside of them, and run this command by that path, or use --user.`,
        ]
      : [],
  next: (facts) => (facts.user ? stepsOfUser(facts) : stepsOfMachine(facts)),
}

/** What the sandbox must permit for this configuration. */
function sandboxOf({ config }: Facts): Replacement[] {
  const { port, socket } = config.server
  const folders = writableFolders(config)
  const runtime = runtimeFolder(config)
  return [
    ...(folders.length > 0
      ? [['ProtectSystem=strict', `ProtectSystem=strict\nReadWritePaths=${folders.map(unitPath).join(' ')}`] as const]
      : []),
    ...(runtime ? [['UMask=0077', `RuntimeDirectory=${runtime}\nUMask=0077`] as const] : []),
    ...(socket === undefined && port > 0 && port < 1024
      ? [
          [
            'CapabilityBoundingSet=',
            `# Port ${port} is below 1024.\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE`,
          ] as const,
        ]
      : []),
  ]
}

function stepsOfMachine(facts: Facts): string[] {
  const path = configPath(facts)
  return [
    'useradd --system --home-dir /var/lib/chat-server --shell /usr/sbin/nologin chat-server',
    'install -d -m 755 /etc/chat-server',
    // The unit does not start without them. One that exists may belong to another program.
    ...writableFolders(facts.config).map((folder) => createFolder(facts, folder)),
    ...(facts.file === undefined
      ? [
          `chat-server config init --output ${path}`,
          // It is root's alone so far, and the service reads it as its own user.
          `chgrp chat-server ${path}`,
          `chmod 640 ${path}`,
        ]
      : [`install -m 640 -g chat-server ${shellWord(facts.file)} ${path}`]),
    // One that exists has secrets.
    'test -e /etc/chat-server/environment || install -m 600 /dev/null /etc/chat-server/environment',
    'install -m 644 chat-server.service /etc/systemd/system/',
    'systemd-analyze verify /etc/systemd/system/chat-server.service',
    'systemctl daemon-reload',
    'systemctl enable --now chat-server',
  ]
}

function createFolder({ config: { server } }: Facts, folder: string): string {
  // The proxy enters that of the socket, whose own mode decides which users connect.
  const mode = server.socket !== undefined && dirname(resolve(server.socket)) === folder ? 755 : 700
  return `test -d ${shellWord(folder)} || install -d -m ${mode} -o chat-server -g chat-server ${shellWord(folder)}`
}

function stepsOfUser(facts: Facts): string[] {
  const [path, folder] = [configPath(facts), configFolder(facts)].map((path) => path.replace('%h', '~'))
  return [
    `install -d -m 700 ${folder} ~/.local/share/chat-server ~/.config/systemd/user`,
    facts.file === undefined
      ? `chat-server config init --output ${path}`
      : `install -m 600 ${shellWord(facts.file)} ${path}`,
    'install -m 644 chat-server.service ~/.config/systemd/user/',
    'systemd-analyze --user verify ~/.config/systemd/user/chat-server.service',
    'systemctl --user daemon-reload',
    'systemctl --user enable --now chat-server',
    'loginctl enable-linger  # else the service stops when you sign out, and does not start with the machine',
  ]
}

function configFolder({ user }: Facts): string {
  return user ? '%h/.config/chat-server' : '/etc/chat-server'
}

/** The unit reads the configuration where the guide puts it: that of the machine may not read the home folders. */
function configPath(facts: Facts): string {
  return `${configFolder(facts)}/chat-server${facts.file === undefined ? '.toml' : extname(facts.file)}`
}
