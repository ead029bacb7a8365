import { basePathOf } from '../../lib/config/base-path.ts'
import { kubernetes, prometheus } from './cluster-targets.ts'
import {
  type Facts,
  idleSeconds,
  keepAliveSeconds,
  listUpstreamNodes,
  sourceFolder,
  toPublicUrl,
  toUpstream,
} from './facts.ts'
import { systemd } from './systemd.ts'
import type { Replacement, Target } from './target.ts'

const docker: Target = {
  description: 'Write a Dockerfile, and a compose file with PostgreSQL, two nodes and HAProxy',
  files: (facts) => {
    const sources = sourceFolder(facts)
    const { sse, server } = facts.config
    return [
      {
        name: 'Dockerfile',
        example: 'examples/deploy/Dockerfile',
        replace: [
          [
            'docker build -f examples/deploy/Dockerfile -t chat-server .',
            `docker build -f Dockerfile -t chat-server ${sources}`,
          ],
          ['-p 127.0.0.1:8080:8080', `-p 127.0.0.1:${server.port || 8080}:8080`],
        ],
      },
      {
        name: 'compose.yaml',
        example: 'examples/deploy/compose.yaml',
        replace: [
          ['In a clone, with POSTGRES_PASSWORD=… in examples/deploy/.env', 'With POSTGRES_PASSWORD=… in .env'],
          ['-f examples/deploy/compose.yaml ', ''],
          ['context: ../..', `context: ${sources}`],
          ['dockerfile: examples/deploy/Dockerfile', `dockerfile: ${facts.output}/Dockerfile`],
          ['- 127.0.0.1:8080:8080', `- 127.0.0.1:${server.port || 8080}:8080`],
        ],
      },
      {
        name: 'compose-haproxy.cfg',
        example: 'examples/deploy/compose-haproxy.cfg',
        replace: [
          ['sse.heartbeat_seconds (20)', `sse.heartbeat_seconds (${sse.heartbeat_seconds})`],
          ...idleOfHaproxy(facts),
        ],
      },
    ]
  },
  next: (facts) => [
    ...(sourceFolder(facts) === './chat-server'
      ? ['git clone https://github.com/OWNER/chat-server.git chat-server']
      : []),
    'echo "POSTGRES_PASSWORD=$(openssl rand -hex 24)" > .env',
    'docker compose config --quiet',
    'docker compose up --build --detach',
    'docker compose exec one chat-server setup --email you@example.org',
  ],
}

const nginx: Target = {
  description: 'Write a server block for nginx',
  files: ({ config }) => {
    const { hostname, protocol, port } = toPublicUrl(config)
    const base = basePathOf(config)
    const isSecure = protocol === 'https:'
    return [
      {
        name: 'chat-server.conf',
        example: 'examples/deploy/nginx.conf',
        replace: [
          ['server 127.0.0.1:8080;', `server ${toUpstream(config, 'nginx')};`],
          ['(5)', `(${config.server.keep_alive_timeout_seconds})`],
          ['keepalive_timeout 4s;', `keepalive_timeout ${keepAliveSeconds(config)}s;`],
          ['listen 443 ssl http2;', isSecure ? `listen ${port || 443} ssl http2;` : `listen ${port || 80};`],
          ...(isSecure ? [] : (CERTIFICATES.map((line) => [line, '']) as [string, string][])),
          ['chat.example.org', hostname],
          ['location / {', `location ${base}/ {`],
          // With a path, nginx replaces the location by it.
          ['proxy_pass http://chat;', `proxy_pass http://chat${base && '/'};`],
          ['(20)', `(${config.sse.heartbeat_seconds})`],
          ['proxy_read_timeout 60s;', `proxy_read_timeout ${idleSeconds(config)}s;`],
        ],
      },
    ]
  },
  next: () => [
    'install -m 644 chat-server.conf /etc/nginx/conf.d/',
    'nginx -t',
    'systemctl reload nginx',
    'chat-server doctor',
  ],
}

const CERTIFICATES = [
  '  ssl_certificate /etc/ssl/chat.example.org.pem;',
  '  ssl_certificate_key /etc/ssl/chat.example.org.key;',
]

const caddy: Target = {
  description: 'Write a Caddyfile',
  files: ({ config }) => {
    const { host, origin, protocol } = toPublicUrl(config)
    const base = basePathOf(config)
    const proxy = `\treverse_proxy ${toUpstream(config, 'caddy')} {`
    return [
      {
        name: 'Caddyfile',
        example: 'examples/deploy/Caddyfile',
        replace: [
          ['chat.example.org {', `${protocol === 'https:' ? host : origin} {`],
          ['\treverse_proxy 127.0.0.1:8080 {', base ? `\turi strip_prefix ${base}\n${proxy}` : proxy],
          ['(5)', `(${config.server.keep_alive_timeout_seconds})`],
          ['keepalive 4s', `keepalive ${keepAliveSeconds(config)}s`],
        ],
      },
    ]
  },
  next: () => [
    'caddy validate --config Caddyfile --adapter caddyfile',
    'install -m 644 Caddyfile /etc/caddy/',
    'systemctl reload caddy',
    'chat-server doctor',
  ],
}

const haproxy: Target = {
  description: 'Write a configuration for HAProxy',
  args: {
    nodes: {
      type: 'string',
      valueHint: 'host:port,…',
      description:
        'Addresses of the nodes (default: that of the configuration, and on PostgreSQL a second with the next port)',
    },
  },
  files: (facts) => {
    const { config } = facts
    const nodes = listUpstreamNodes(facts)
    const { hostname, protocol, port } = toPublicUrl(config)
    const base = basePathOf(config)
    const secure = `bind :${port || 443} ssl crt /etc/haproxy/${hostname}.pem alpn h2,http/1.1`
    return [
      {
        name: 'haproxy.cfg',
        example: 'examples/deploy/haproxy.cfg',
        replace: [
          ['(20)', `(${config.sse.heartbeat_seconds})`],
          ...idleOfHaproxy(facts),
          [
            'bind :443 ssl crt /etc/haproxy/chat.example.org.pem alpn h2,http/1.1',
            protocol === 'https:' ? secure : `bind :${port || 80}`,
          ],
          [
            '  balance leastconn',
            base ? `  balance leastconn\n  http-request replace-path ${base}/?(.*) /\\1` : '  balance leastconn',
          ],
          ['(5)', `(${config.server.keep_alive_timeout_seconds})`],
          ['pool-purge-delay 2s', `pool-purge-delay ${Math.max(1, Math.floor(keepAliveSeconds(config) / 2))}s`],
          ...(nodes.length === 1
            ? ([
                ['# Two chat-servers on one PostgreSQL database', '# chat-server'],
                ['Set server.drain_delay_seconds = 5 in both', 'Set server.drain_delay_seconds = 5'],
                ['# Both need the same attachments.storage: the parts of an upload reach either of them.', ''],
              ] as const)
            : ([
                ['# Two chat-servers', `# ${nodes.length === 2 ? 'Two' : nodes.length} chat-servers`],
                ...(nodes.length === 2
                  ? []
                  : ([
                      ['drain_delay_seconds = 5 in both', 'drain_delay_seconds = 5 in all'],
                      ['# Both need', '# All need'],
                      ['reach either of them', 'reach any of them'],
                    ] as const)),
              ] as const)),
          [
            '  server one 127.0.0.1:8080\n  server two 127.0.0.1:8081',
            nodes.map((address, i) => `  server ${['one', 'two'][i] ?? `node${i + 1}`} ${address}`).join('\n'),
          ],
        ],
      },
    ]
  },
  next: () => [
    'haproxy -c -f haproxy.cfg',
    'install -m 644 haproxy.cfg /etc/haproxy/',
    'systemctl reload haproxy',
    'chat-server doctor',
  ],
}

function idleOfHaproxy({ config }: Facts): Replacement[] {
  return ['client', 'server'].map((side) => [`timeout ${side} 60s`, `timeout ${side} ${idleSeconds(config)}s`])
}

/** What `chat-server init` writes, by the name of the program. */
export const TARGETS = { systemd, docker, nginx, caddy, haproxy, kubernetes, prometheus }
