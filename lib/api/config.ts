// Made from the use-cases, routes and schemas by `npm run docs`: change it there.

/** Any part of the configuration. */
export interface ConfigInput {
  server?: {
    /** Address to listen on. The default is reachable only from the same machine. Default: `"127.0.0.1"`. */
    host?: string | undefined
    /** Port to listen on; 0 picks a free one. Default: `8080`. */
    port?: number | undefined
    /**
     * Path of a Unix domain socket to listen on instead of a port, for a proxy on this machine, whose X-Forwarded-For
     * is trusted.
     */
    socket?: string | undefined
    /** Permissions of the socket; a user who may write it may connect. Default: `"660"`. */
    socket_mode?: string | undefined
    /** Public URL of the service, if it differs from the listen address. */
    public_url?: string | undefined
    /**
     * Path below which a host or a proxy has the service, such as /chat: its links have it, and requests may come with
     * or without it. Default: the path of server.public_url.
     */
    base_path?: string | undefined
    /**
     * Whether the service has the web chat at its root. serve shows it unless this is false; a host that shows it
     * itself sets true.
     */
    web?: boolean | undefined
    /**
     * Addresses and ranges (CIDR) of proxies whose X-Forwarded-For is trusted; from all others it is ignored. Default:
     * `[]`.
     */
    trusted_proxies?: string[] | undefined
    /**
     * Concurrent connections, open streams included; further ones are closed at once. Each takes a file descriptor.
     * Default: `10000`.
     */
    max_connections?: number | undefined
    /** Maximum size of request line and headers, cookies included; 431 beyond. Default: `16384` bytes. */
    max_header_bytes?: number | undefined
    /** How long a client may take to send its headers; 408 beyond. Default: `10` seconds. */
    headers_timeout_seconds?: number | undefined
    /**
     * How long a client may take to send a whole request; 408 beyond. It does not limit responses such as streams.
     * Default: `30` seconds.
     */
    request_timeout_seconds?: number | undefined
    /** How long an idle connection stays open. Set it longer than the keep-alive of your proxy. Default: `5` seconds. */
    keep_alive_timeout_seconds?: number | undefined
    /**
     * A connection that reads nothing of a waiting response, or of the missed events of a stream, for this time is
     * closed. At sse.max_streams_per_user, an open stream whose client reads nothing for this time gives its place to
     * a new one. Default: `30` seconds.
     */
    stalled_seconds?: number | undefined
    /**
     * How long /readyz returns 503 before the service stops accepting requests: the time your load balancer needs to
     * notice. Default: `0` seconds.
     */
    drain_delay_seconds?: number | undefined
    cors?: {
      /** Other origins (https://app.example.org) whose pages may call the service as their signed-in user. Default: `[]`. */
      allowed_origins?: string[] | undefined
    }
  }
  database?: {
    /**
     * URL of the database: SQLite or PostgreSQL. A reload takes another user and password, and nothing else. Default:
     * `"sqlite:./data/chat.db"`.
     */
    url?: string | undefined
    /**
     * PostgreSQL: the schema of the tables, created if missing; empty for the first one of the search_path. Default:
     * `""`.
     */
    schema?: string | undefined
    /**
     * What the names of tables and indexes begin with, such as chat_, in a database with tables of other programs.
     * Default: `""`.
     */
    prefix?: string | undefined
    /** PostgreSQL: the maximum number of connections of one process. Default: `10`. */
    pool_size?: number | undefined
    /** PostgreSQL: the name of the connections in pg_stat_activity and in its log. Default: `"chat-server"`. */
    application_name?: string | undefined
    /**
     * PostgreSQL: prepare each statement once per connection; false for a pooler that cannot do that. PgBouncer is
     * detected. Default: `true`.
     */
    prepared_statements?: boolean | undefined
  }
  storage?: {
    /**
     * full: a write is acknowledged after it is synced to disk. os: after the operating system has it, which is
     * faster, but a power cut may lose the last writes. Default: `"full"`.
     */
    durability?: 'full' | 'os' | undefined
    /** Bring the database up to date at start; if false, an outdated database is refused. Default: `true`. */
    migrate?: boolean | undefined
    /**
     * SQLite: serve and migrate copy the file beside it before they migrate a database with data; the last two copies
     * are kept for 7 days. Default: `true`.
     */
    backup_before_migrate?: boolean | undefined
  }
  backup?: {
    /**
     * When to make a backup: five fields of cron in UTC ("30 3 * * *"), or an interval (6h, 1d). By default none is
     * made.
     */
    schedule?: string | undefined
    /** Number of backups to keep. Older ones are deleted after a newer one was verified. Default: `7`. */
    keep?: number | undefined
    /** Where backups go: a folder, or s3://<bucket>/<prefix>. Required for a schedule. */
    target?: string | undefined
    /**
     * Whether the files of messages are copied to backup.target, too, after each backup; encrypted if backups are.
     * Default: `false`.
     */
    files?: boolean | undefined
    /**
     * Encrypts backups with age, also those of "backup <file>", and decrypts them. Without it a backup is lost: keep
     * it elsewhere, too.
     */
    passphrase?: string | undefined
    /**
     * Former values of backup.passphrase, which still decrypt the backups made with them; none encrypts. Default:
     * `[]`.
     */
    previous_passphrases?: string[] | undefined
    /**
     * Encrypts backups, also those of "backup <file>", for the owner of this public key of age; the service cannot
     * read them.
     */
    recipient?: string | undefined
    s3?: {
      /** URL of an S3-compatible service; default: Amazon S3 in the region. */
      endpoint?: string | undefined
      /** Region of the bucket. Default: `"us-east-1"`. */
      region?: string | undefined
      /** Default: the environment variable AWS_ACCESS_KEY_ID. */
      access_key_id?: string | undefined
      /** Default: the environment variable AWS_SECRET_ACCESS_KEY. */
      secret_access_key?: string | undefined
      /** Whether the bucket is in the path of the URL; if false, it is in the host name. Default: `true`. */
      path_style?: boolean | undefined
    }
  }
  cluster?: {
    /**
     * PostgreSQL: the number of processes of this service, which share its port. They divide the default rate limit
     * among them. Default: `1`.
     */
    workers?: number | undefined
    /**
     * Interval at which a process looks for what others have committed: the maximum delay of their events. Default:
     * `150` milliseconds.
     */
    poll_ms?: number | undefined
    /** How long typing and other ephemeral events are gathered for other processes. Default: `50` milliseconds. */
    signal_ms?: number | undefined
    /** Interval at which a process reports that it lives. Default: `2` seconds. */
    beat_seconds?: number | undefined
    /**
     * A process without a report for so long is taken for dead. At least twice cluster.beat_seconds. Default: `10`
     * seconds.
     */
    dead_seconds?: number | undefined
    /**
     * Containers with one host name: a name for each. A process that starts replaces the one of the same machine and
     * name that has ended without a stop. Default: `""`.
     */
    instance?: string | undefined
  }
  features?: {
    /** Serve /api; if false, its calls are 404. Default: `true`. */
    auth_v1?: boolean | undefined
    /** Serve the documents of well_known.entries; if false, they are 404. Default: `false`. */
    well_known?: boolean | undefined
    /** Serve /v1, an echo for OpenAI clients; if false, its calls are 404. Default: `true`. */
    openai_compat?: boolean | undefined
  }
  rate_limits?: {
    /** Serve the API that changes limits while the service runs. Default: `false`. */
    admin_api_enabled?: boolean | undefined
    /**
     * Requests per second of one user, or one IP address, on routes without a profile; 0 sets no limit. Default:
     * `500`.
     */
    default_rps?: number | undefined
    /** Number of those requests that may arrive at once. Default: `1000`. */
    burst?: number | undefined
    /** Sign-ins, sign-ups, set-ups and password resets per minute from one IP address. Default: `60`. */
    auth_login_per_ip_per_min?: number | undefined
    /**
     * Requests per minute from one IP address that may fail with 401; beyond that, tokens are not looked up. Default:
     * `600`.
     */
    auth_failures_per_ip_per_min?: number | undefined
  }
  session?: {
    /** A session unused for longer ends. Default: `28800` seconds. */
    idle_seconds?: number | undefined
    /** A session older than this ends, used or not. Default: `604800` seconds. */
    absolute_seconds?: number | undefined
    /** Name of the session cookie. Default: `"SESSION_ID"`. */
    session_cookie_name?: string | undefined
    /** Alias of security.csrf.cookie_name: set only one of the two. Default: `"CSRF-TOKEN"`. */
    csrf_cookie_name?: string | undefined
    /** Sessions per user; a further sign-in ends the oldest one; false sets no limit. Default: `5`. */
    max_sessions_per_user?: number | false | undefined
  }
  security?: {
    cookie?: {
      /**
       * What the names of all cookies begin with, such as chat_, unless a name is set itself: two services under one
       * host name need other names. Default: `""`.
       */
      prefix?: string | undefined
      /** Domain of both cookies; empty keeps them to the host that set them. Default: `""`. */
      domain?: string | undefined
      /** Send the cookies over HTTPS only. Turn it on if you use HTTPS. Default: `false`. */
      secure?: boolean | undefined
      /** SameSite of the session cookie; none needs secure. Default: `"lax"`. */
      same_site?: 'lax' | 'strict' | 'none' | undefined
    }
    csrf?: {
      /** Check the CSRF header. Turn it off only if no browser signs in. Default: `true`. */
      enabled?: boolean | undefined
      /** Name of the CSRF cookie. Default: `"CSRF-TOKEN"`. */
      cookie_name?: string | undefined
      /** Header that repeats the value of the CSRF cookie. Default: `"X-CSRF-TOKEN"`. */
      header_name?: string | undefined
    }
    password?: {
      /** Cost of one password hash; each step doubles it. Below 10 is for tests only. Default: `12`. */
      bcrypt_cost?: number | undefined
    }
  }
  setup?: {
    /** Code that POST /api/setup requires as setup_code; by default none is required. */
    code?: string | undefined
  }
  invites?: {
    /** Allow new users to sign up with an invite. Default: `true`. */
    allow_signup?: boolean | undefined
    /**
     * Whose invites allow a sign-up: admins and owners of the conversation, its owners only, or only operators
     * (administrators of the service and the command line). Invites of operators always do. Default: `"admins"`.
     */
    signup_by?: 'admins' | 'owners' | 'operators' | undefined
    /** Maximum number of uses of an invite. Default: `100`. */
    max_uses?: number | undefined
    /**
     * Maximum number of accounts that one invite creates; further sign-ups are refused, even if uses are left.
     * Default: `25`.
     */
    signup_max_uses?: number | undefined
  }
  oauth?: {
    /**
     * Serve POST /api/oauth/{provider}/manual, which takes a code by hand, for developers. Default: on, unless
     * server.public_url begins with https://.
     */
    manual_enabled?: boolean | undefined
    /** Create an account at the first sign-in of a new user through a provider. Default: `true`. */
    allow_signup?: boolean | undefined
    /**
     * Link accounts by an email address that the provider has verified. Every provider can then open every account.
     * Default: `false`.
     */
    link_verified_email?: boolean | undefined
  } & {
    [name: string]:
      | boolean
      | {
          /** Name of the provider on the button of a page. Default: its name, with a capital letter. */
          title?: string | undefined
          /** Client id at the provider. Without it the provider is not offered. */
          client_id?: string | undefined
          /** Client secret at the provider. */
          client_secret?: string | undefined
          /**
           * Callback URL, exactly as registered at the provider; default: server.public_url and server.base_path followed by
           * /api/oauth/{provider}/callback.
           */
          redirect_uri?: string | undefined
          /** Issuer URL of an OpenID Connect provider; all other URLs are discovered from it. */
          issuer?: string | undefined
          /** Authorization endpoint. Required for a provider without an issuer. */
          authorization_url?: string | undefined
          /** Token endpoint. Required for a provider without an issuer. */
          token_url?: string | undefined
          /** User info endpoint. Required for a provider without an issuer. */
          userinfo_url?: string | undefined
          /** Hosts that discovery may have the client secret sent to, beside the issuer's own and those below it. */
          token_hosts?: string[] | undefined
          /** Requested scope; default: openid email profile, or the scope of the preset. */
          scope?: string | undefined
          /**
           * Only users with an email address in one of these domains may sign in, if the provider reports the address as
           * verified. A subdomain is another domain.
           */
          allowed_domains?: string[] | undefined
          /** Only users with one of these verified email addresses may sign in, or with one in allowed_domains. */
          allowed_emails?: string[] | undefined
          /**
           * Only users with all of these claims may sign in. Each has the value, or a list of values of which one must be
           * there, such as { groups = ["staff"] }.
           */
          required_claims?: Record<string, string | number | boolean | (string | number | boolean)[]> | undefined
          role_claims?: {
            /**
             * Claims that make a user an administrator. With any key of this section, the highest role whose claims are there
             * is set at every sign-in.
             */
            admin?: Record<string, string | number | boolean | (string | number | boolean)[]> | undefined
            /** Claims that make a user a member; default: every user that no other role matches. */
            member?: Record<string, string | number | boolean | (string | number | boolean)[]> | undefined
            /** Claims that let a user only read. */
            read_only?: Record<string, string | number | boolean | (string | number | boolean)[]> | undefined
          }
        }
      | undefined
  }
  mail?: {
    /** Folder with texts of your own, such as reset_password.txt; a mail without a file has the text of the service. */
    templates?: string | undefined
    smtp?: {
      /**
       * Mail server: smtp://user:password@host:587 (STARTTLS where the server offers it, and always with a password), or
       * smtps://host:465. Without it no mail is sent.
       */
      url?: string | undefined
      /** Sender of the mails. Required with mail.smtp.url. */
      from?: string | undefined
      /** Address for answers, if it differs from the sender. */
      reply_to?: string | undefined
      /** A mail that takes longer to hand over is tried again later. Default: `30` seconds. */
      timeout_seconds?: number | undefined
    }
  }
  links?: {
    /** Page of your own that sets a new password, with {token} in its address; by default the service has a plain form. */
    reset_password?: string | undefined
    /**
     * Page of your own that verifies an email address, with {token} in its address; by default the service has a plain
     * form.
     */
    verify_email?: string | undefined
    /**
     * Page of your own that confirms a changed email address, with {token} in its address; by default the service has
     * a plain form.
     */
    change_email?: string | undefined
    /**
     * Page of your own that undoes such a change, with {token} in its address; by default the service has a plain
     * form.
     */
    undo_email?: string | undefined
    /**
     * Page of your own that accepts a mailed invite to a conversation, with {token} in its address; by default the
     * service has a plain form.
     */
    conversation_invite?: string | undefined
    /**
     * Page of your own on which an invited newcomer signs up, with {token} in its address; by default the service has
     * a plain form.
     */
    invite?: string | undefined
  }
  sse?: {
    /**
     * Interval of the comments that keep an idle stream open. Keep it below the idle timeout of your proxy. Default:
     * `20` seconds.
     */
    heartbeat_seconds?: number | undefined
    /** How far a reader may fall behind before its stream is closed; it then resumes by id. Default: `1048576` bytes. */
    max_buffer_bytes?: number | undefined
    /** How long events are stored for replay; a reader that was away for longer gets stream.reset. Default: `48` hours. */
    replay_retention_hours?: number | undefined
    /** Maximum number of open streams per user. Default: `20`. */
    max_streams_per_user?: number | undefined
  }
  presence?: {
    /** Conversations with more participants get no presence.update; clients ask GET /api/presence. Default: `200`. */
    broadcast_participants?: number | undefined
  }
  direct?: {
    /** Direct conversations can be opened; those that exist can be used in any case. Default: `true`. */
    enabled?: boolean | undefined
    /** The users that one can be opened with: shared, those of a common conversation; or everyone. Default: `"shared"`. */
    who?: 'shared' | 'everyone' | undefined
  }
  receipts?: {
    /** Participants can see who has read a message, where the conversation and the readers agree. Default: `true`. */
    enabled?: boolean | undefined
  }
  search?: {
    /** Messages can be searched by their words. Default: `true`. */
    enabled?: boolean | undefined
    /** How long a request searches before it returns what it has, in milliseconds. Default: `500`. */
    budget_ms?: number | undefined
    /** Searches of a user per minute, in each process. Default: `60`. */
    per_user_per_min?: number | undefined
  }
  attachments?: {
    /**
     * Whether messages can have files. The command line turns it on unless this is false; a host that wants it sets
     * true. Without it, the routes of files are 404.
     */
    enabled?: boolean | undefined
    /**
     * Where the bytes of files are. Default: the folder files beside a SQLite file, else fs:./data/files. Or another
     * fs:<folder>, or s3://<bucket>/<prefix>?endpoint=…&region=…&path_style=false: without an endpoint Amazon S3,
     * without a region AWS_REGION or us-east-1, and with path_style=false the bucket is in the host name. The keys are
     * in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment, with AWS_SESSION_TOKEN for temporary ones;
     * those of backup.s3 and files of secrets are not used.
     */
    storage?: string | undefined
    /** Maximum size of a file. Default: `104857600` bytes. */
    max_bytes?: number | undefined
    /**
     * Media types that are allowed, as the service recognises them from the first bytes; what it does not recognise is
     * application/octet-stream. Empty: all. Default: `[]`.
     */
    types?: string[] | undefined
    /**
     * Maximum size of all files of a user together, with deleted ones until their bytes are gone; 0 sets no limit.
     * Default: `1073741824` bytes.
     */
    per_user_bytes?: number | undefined
    /**
     * Maximum size of all files together; beyond it uploads are refused as on a full disk; 0 sets no limit. Default:
     * `0` bytes.
     */
    total_bytes?: number | undefined
    /**
     * What uploads leave free on the disk of a folder of files: below it they are 507, while posts go on. Default: 512
     * MiB, or 5 % of the disk if that is less. 0 reserves nothing.
     */
    reserve_bytes?: number | undefined
    /** Remove place, device and other EXIF data of JPEG pictures. Default: `true`. */
    strip_metadata?: boolean | undefined
    /** How long the files of a deleted message are kept, so that it can be restored with them. Default: `30` days. */
    deleted_days?: number | undefined
    /**
     * How long the bytes of a file that nothing refers to any more are kept: a backup of the database and then of the
     * files is complete if it takes less. Default: `24` hours.
     */
    grace_hours?: number | undefined
    /**
     * What a process holds in memory of the files that are being uploaded and read: beyond it uploads wait, and
     * readers get pieces of 64 KiB. Default: `67108864` bytes.
     */
    max_buffered_bytes?: number | undefined
    /**
     * Maximum number of files, and of thumbnails, that a user reads at once from a process; further ones wait for up
     * to 30 seconds, and then are 429. Default: `16`.
     */
    max_reads_per_user?: number | undefined
    /** How long a link to a file is valid. Default: `300` seconds. */
    link_seconds?: number | undefined
    /** Pictures with more pixels get no thumbnail: to decode one takes memory for all of them. Default: `50000000`. */
    thumbnail_pixels?: number | undefined
    /**
     * With a scanner: before, a file can be attached once it was found clean; after, it can be attached at once, and
     * read once it was found clean. Default: `"before"`.
     */
    scan?: 'before' | 'after' | undefined
    /** What becomes of a file that the scanner could not check in three attempts. Default: `"refuse"`. */
    scan_failure?: 'refuse' | 'accept' | undefined
  }
  notifications?: {
    /**
     * Of which messages participants are notified who have not chosen a level: in direct conversations it is all.
     * Default: `"mentions"`.
     */
    default_level?: 'all' | 'mentions' | 'none' | undefined
    /** How long notifications are kept; older ones leave the inbox. Default: `90` days. */
    keep_days?: number | undefined
  }
  limits?: {
    /** Maximum depth of replies; the root of a thread has depth 0. Default: `100`. */
    max_depth?: number | undefined
    /** Maximum length of a message, in UTF-8. Default: `65536` bytes. */
    message_bytes?: number | undefined
    /** Number of stored revisions of an edited message; a further edit drops the oldest. Default: `100`. */
    revisions_per_message?: number | undefined
    /** Maximum number of pinned messages of a conversation. Default: `100`. */
    pins?: number | undefined
    /** Maximum number of different emoji with which a message has reactions. Default: `32`. */
    reactions_per_message?: number | undefined
    /**
     * Conversations with more participants do not have @all, which notifies every participant at once. Default:
     * `1000`.
     */
    mention_all?: number | undefined
  }
  assistant?: {
    /**
     * Provider of the answers: echo repeats the question, openai is any server with the API of OpenAI. Default:
     * `"echo"`.
     */
    provider?: 'echo' | 'openai' | undefined
    /** URL of the model server, up to /v1; default: https://api.openai.com/v1. */
    base_url?: string | undefined
    /** Bearer token for the model server; many local servers need none. */
    api_key?: string | undefined
    /** Name of the model on its server. Required for openai. */
    model?: string | undefined
    /** Instructions for the model, sent before the thread. */
    system_prompt?: string | undefined
    /**
     * Whether a model of openai gets the pictures of the thread: the newest 8, up to 8 MiB together. Otherwise it gets
     * the names of files only. Default: `false`.
     */
    images?: boolean | undefined
    /** Additional headers for the model server, each as "Name: value". Default: `[]`. */
    headers?: string[] | undefined
    /** An answer that takes longer fails. Default: `120` seconds. */
    timeout_seconds?: number | undefined
    /** Time that answers have to finish when the service stops. Default: `5` seconds. */
    drain_seconds?: number | undefined
    /**
     * Maximum size of the thread sent to the assistant; the oldest messages are left out, the question is always sent.
     * Default: `65536` bytes.
     */
    context_bytes?: number | undefined
    /** Concurrent answers per user, in all processes; 429 beyond. Default: `3`. */
    max_running_per_user?: number | undefined
    /** Concurrent answers, in all processes; 503 beyond. Default: `100`. */
    max_running?: number | undefined
    /** Maximum length of an answer, in UTF-8; a longer one fails. Default: `262144` bytes. */
    answer_bytes?: number | undefined
  }
  audit?: {
    /** How long entries of the audit log are kept; false keeps them forever. Default: `365` days. */
    retention_days?: number | false | undefined
  }
  metrics?: {
    /** Bearer token that /metrics requires; by default none is required. */
    token?: string | undefined
    /**
     * Former values of metrics.token, which /metrics still takes, until each monitoring system has the new one.
     * Default: `[]`.
     */
    previous_tokens?: string[] | undefined
  }
  well_known?: {
    /**
     * Documents under /.well-known/, by path: a text, or a table with body and content_type. Also as a list of tables
     * with path, body and content_type. Default: `[]`.
     */
    entries?: WellKnownInput | undefined
  }
  log?: {
    /** Lowest level to log. Default: `"info"`. */
    level?: 'silent' | 'error' | 'warn' | 'info' | 'debug' | undefined
    /**
     * json is one object a line, pretty is for people; auto is pretty on a terminal and json elsewhere. Default:
     * `"auto"`.
     */
    format?: 'auto' | 'json' | 'pretty' | undefined
    /**
     * Requests to log: all; problems, those answered with 5xx or after more than a second; or none. Default:
     * `"problems"`.
     */
    requests?: 'all' | 'problems' | 'none' | undefined
  }
}

/** The whole configuration, with every default filled in. */
export interface Config {
  server: {
    /** Address to listen on. The default is reachable only from the same machine. */
    host: string
    /** Port to listen on; 0 picks a free one. */
    port: number
    /**
     * Path of a Unix domain socket to listen on instead of a port, for a proxy on this machine, whose X-Forwarded-For
     * is trusted.
     */
    socket?: string
    /** Permissions of the socket; a user who may write it may connect. */
    socket_mode: string
    /** Public URL of the service, if it differs from the listen address. */
    public_url?: string
    /**
     * Path below which a host or a proxy has the service, such as /chat: its links have it, and requests may come with
     * or without it. Default: the path of server.public_url.
     */
    base_path?: string
    /**
     * Whether the service has the web chat at its root. serve shows it unless this is false; a host that shows it
     * itself sets true.
     */
    web?: boolean
    /** Addresses and ranges (CIDR) of proxies whose X-Forwarded-For is trusted; from all others it is ignored. */
    trusted_proxies: string[]
    /** Concurrent connections, open streams included; further ones are closed at once. Each takes a file descriptor. */
    max_connections: number
    /** Maximum size of request line and headers, cookies included; 431 beyond. */
    max_header_bytes: number
    /** How long a client may take to send its headers; 408 beyond. */
    headers_timeout_seconds: number
    /** How long a client may take to send a whole request; 408 beyond. It does not limit responses such as streams. */
    request_timeout_seconds: number
    /** How long an idle connection stays open. Set it longer than the keep-alive of your proxy. */
    keep_alive_timeout_seconds: number
    /**
     * A connection that reads nothing of a waiting response, or of the missed events of a stream, for this time is
     * closed. At sse.max_streams_per_user, an open stream whose client reads nothing for this time gives its place to
     * a new one.
     */
    stalled_seconds: number
    /**
     * How long /readyz returns 503 before the service stops accepting requests: the time your load balancer needs to
     * notice.
     */
    drain_delay_seconds: number
    cors: {
      /** Other origins (https://app.example.org) whose pages may call the service as their signed-in user. */
      allowed_origins: string[]
    }
  }
  database: {
    /** URL of the database: SQLite or PostgreSQL. A reload takes another user and password, and nothing else. */
    url: string
    /** PostgreSQL: the schema of the tables, created if missing; empty for the first one of the search_path. */
    schema: string
    /** What the names of tables and indexes begin with, such as chat_, in a database with tables of other programs. */
    prefix: string
    /** PostgreSQL: the maximum number of connections of one process. */
    pool_size: number
    /** PostgreSQL: the name of the connections in pg_stat_activity and in its log. */
    application_name: string
    /**
     * PostgreSQL: prepare each statement once per connection; false for a pooler that cannot do that. PgBouncer is
     * detected.
     */
    prepared_statements: boolean
  }
  storage: {
    /**
     * full: a write is acknowledged after it is synced to disk. os: after the operating system has it, which is
     * faster, but a power cut may lose the last writes.
     */
    durability: 'full' | 'os'
    /** Bring the database up to date at start; if false, an outdated database is refused. */
    migrate: boolean
    /**
     * SQLite: serve and migrate copy the file beside it before they migrate a database with data; the last two copies
     * are kept for 7 days.
     */
    backup_before_migrate: boolean
  }
  backup: {
    /**
     * When to make a backup: five fields of cron in UTC ("30 3 * * *"), or an interval (6h, 1d). By default none is
     * made.
     */
    schedule?: string
    /** Number of backups to keep. Older ones are deleted after a newer one was verified. */
    keep: number
    /** Where backups go: a folder, or s3://<bucket>/<prefix>. Required for a schedule. */
    target?: string
    /** Whether the files of messages are copied to backup.target, too, after each backup; encrypted if backups are. */
    files: boolean
    /**
     * Encrypts backups with age, also those of "backup <file>", and decrypts them. Without it a backup is lost: keep
     * it elsewhere, too.
     */
    passphrase?: string
    /** Former values of backup.passphrase, which still decrypt the backups made with them; none encrypts. */
    previous_passphrases: string[]
    /**
     * Encrypts backups, also those of "backup <file>", for the owner of this public key of age; the service cannot
     * read them.
     */
    recipient?: string
    s3: {
      /** URL of an S3-compatible service; default: Amazon S3 in the region. */
      endpoint?: string
      /** Region of the bucket. */
      region: string
      /** Default: the environment variable AWS_ACCESS_KEY_ID. */
      access_key_id?: string
      /** Default: the environment variable AWS_SECRET_ACCESS_KEY. */
      secret_access_key?: string
      /** Whether the bucket is in the path of the URL; if false, it is in the host name. */
      path_style: boolean
    }
  }
  cluster: {
    /**
     * PostgreSQL: the number of processes of this service, which share its port. They divide the default rate limit
     * among them.
     */
    workers: number
    /** Interval at which a process looks for what others have committed: the maximum delay of their events. */
    poll_ms: number
    /** How long typing and other ephemeral events are gathered for other processes. */
    signal_ms: number
    /** Interval at which a process reports that it lives. */
    beat_seconds: number
    /** A process without a report for so long is taken for dead. At least twice cluster.beat_seconds. */
    dead_seconds: number
    /**
     * Containers with one host name: a name for each. A process that starts replaces the one of the same machine and
     * name that has ended without a stop.
     */
    instance: string
  }
  features: {
    /** Serve /api; if false, its calls are 404. */
    auth_v1: boolean
    /** Serve the documents of well_known.entries; if false, they are 404. */
    well_known: boolean
    /** Serve /v1, an echo for OpenAI clients; if false, its calls are 404. */
    openai_compat: boolean
  }
  rate_limits: {
    /** Serve the API that changes limits while the service runs. */
    admin_api_enabled: boolean
    /** Requests per second of one user, or one IP address, on routes without a profile; 0 sets no limit. */
    default_rps: number
    /** Number of those requests that may arrive at once. */
    burst: number
    /** Sign-ins, sign-ups, set-ups and password resets per minute from one IP address. */
    auth_login_per_ip_per_min: number
    /** Requests per minute from one IP address that may fail with 401; beyond that, tokens are not looked up. */
    auth_failures_per_ip_per_min: number
  }
  session: {
    /** A session unused for longer ends. */
    idle_seconds: number
    /** A session older than this ends, used or not. */
    absolute_seconds: number
    /** Name of the session cookie. */
    session_cookie_name: string
    /** Alias of security.csrf.cookie_name: set only one of the two. */
    csrf_cookie_name: string
    /** Sessions per user; a further sign-in ends the oldest one; false sets no limit. */
    max_sessions_per_user: number | false
  }
  security: {
    cookie: {
      /**
       * What the names of all cookies begin with, such as chat_, unless a name is set itself: two services under one
       * host name need other names.
       */
      prefix: string
      /** Domain of both cookies; empty keeps them to the host that set them. */
      domain: string
      /** Send the cookies over HTTPS only. Turn it on if you use HTTPS. */
      secure: boolean
      /** SameSite of the session cookie; none needs secure. */
      same_site: 'lax' | 'strict' | 'none'
    }
    csrf: {
      /** Check the CSRF header. Turn it off only if no browser signs in. */
      enabled: boolean
      /** Name of the CSRF cookie. */
      cookie_name: string
      /** Header that repeats the value of the CSRF cookie. */
      header_name: string
    }
    password: {
      /** Cost of one password hash; each step doubles it. Below 10 is for tests only. */
      bcrypt_cost: number
    }
  }
  setup: {
    /** Code that POST /api/setup requires as setup_code; by default none is required. */
    code?: string
  }
  invites: {
    /** Allow new users to sign up with an invite. */
    allow_signup: boolean
    /**
     * Whose invites allow a sign-up: admins and owners of the conversation, its owners only, or only operators
     * (administrators of the service and the command line). Invites of operators always do.
     */
    signup_by: 'admins' | 'owners' | 'operators'
    /** Maximum number of uses of an invite. */
    max_uses: number
    /** Maximum number of accounts that one invite creates; further sign-ups are refused, even if uses are left. */
    signup_max_uses: number
  }
  oauth: {
    /**
     * Serve POST /api/oauth/{provider}/manual, which takes a code by hand, for developers. Default: on, unless
     * server.public_url begins with https://.
     */
    manual_enabled?: boolean
    /** Create an account at the first sign-in of a new user through a provider. */
    allow_signup: boolean
    /** Link accounts by an email address that the provider has verified. Every provider can then open every account. */
    link_verified_email: boolean
  } & {
    [name: string]:
      | boolean
      | {
          /** Name of the provider on the button of a page. Default: its name, with a capital letter. */
          title?: string
          /** Client id at the provider. Without it the provider is not offered. */
          client_id?: string
          /** Client secret at the provider. */
          client_secret?: string
          /**
           * Callback URL, exactly as registered at the provider; default: server.public_url and server.base_path followed by
           * /api/oauth/{provider}/callback.
           */
          redirect_uri?: string
          /** Issuer URL of an OpenID Connect provider; all other URLs are discovered from it. */
          issuer?: string
          /** Authorization endpoint. Required for a provider without an issuer. */
          authorization_url?: string
          /** Token endpoint. Required for a provider without an issuer. */
          token_url?: string
          /** User info endpoint. Required for a provider without an issuer. */
          userinfo_url?: string
          /** Hosts that discovery may have the client secret sent to, beside the issuer's own and those below it. */
          token_hosts?: string[]
          /** Requested scope; default: openid email profile, or the scope of the preset. */
          scope?: string
          /**
           * Only users with an email address in one of these domains may sign in, if the provider reports the address as
           * verified. A subdomain is another domain.
           */
          allowed_domains?: string[]
          /** Only users with one of these verified email addresses may sign in, or with one in allowed_domains. */
          allowed_emails?: string[]
          /**
           * Only users with all of these claims may sign in. Each has the value, or a list of values of which one must be
           * there, such as { groups = ["staff"] }.
           */
          required_claims?: Record<string, string | number | boolean | (string | number | boolean)[]>
          role_claims: {
            /**
             * Claims that make a user an administrator. With any key of this section, the highest role whose claims are there
             * is set at every sign-in.
             */
            admin?: Record<string, string | number | boolean | (string | number | boolean)[]>
            /** Claims that make a user a member; default: every user that no other role matches. */
            member?: Record<string, string | number | boolean | (string | number | boolean)[]>
            /** Claims that let a user only read. */
            read_only?: Record<string, string | number | boolean | (string | number | boolean)[]>
          }
        }
  }
  mail: {
    /** Folder with texts of your own, such as reset_password.txt; a mail without a file has the text of the service. */
    templates?: string
    smtp: {
      /**
       * Mail server: smtp://user:password@host:587 (STARTTLS where the server offers it, and always with a password), or
       * smtps://host:465. Without it no mail is sent.
       */
      url?: string
      /** Sender of the mails. Required with mail.smtp.url. */
      from?: string
      /** Address for answers, if it differs from the sender. */
      reply_to?: string
      /** A mail that takes longer to hand over is tried again later. */
      timeout_seconds: number
    }
  }
  links: {
    /** Page of your own that sets a new password, with {token} in its address; by default the service has a plain form. */
    reset_password?: string
    /**
     * Page of your own that verifies an email address, with {token} in its address; by default the service has a plain
     * form.
     */
    verify_email?: string
    /**
     * Page of your own that confirms a changed email address, with {token} in its address; by default the service has
     * a plain form.
     */
    change_email?: string
    /**
     * Page of your own that undoes such a change, with {token} in its address; by default the service has a plain
     * form.
     */
    undo_email?: string
    /**
     * Page of your own that accepts a mailed invite to a conversation, with {token} in its address; by default the
     * service has a plain form.
     */
    conversation_invite?: string
    /**
     * Page of your own on which an invited newcomer signs up, with {token} in its address; by default the service has
     * a plain form.
     */
    invite?: string
  }
  sse: {
    /** Interval of the comments that keep an idle stream open. Keep it below the idle timeout of your proxy. */
    heartbeat_seconds: number
    /** How far a reader may fall behind before its stream is closed; it then resumes by id. */
    max_buffer_bytes: number
    /** How long events are stored for replay; a reader that was away for longer gets stream.reset. */
    replay_retention_hours: number
    /** Maximum number of open streams per user. */
    max_streams_per_user: number
  }
  presence: {
    /** Conversations with more participants get no presence.update; clients ask GET /api/presence. */
    broadcast_participants: number
  }
  direct: {
    /** Direct conversations can be opened; those that exist can be used in any case. */
    enabled: boolean
    /** The users that one can be opened with: shared, those of a common conversation; or everyone. */
    who: 'shared' | 'everyone'
  }
  receipts: {
    /** Participants can see who has read a message, where the conversation and the readers agree. */
    enabled: boolean
  }
  search: {
    /** Messages can be searched by their words. */
    enabled: boolean
    /** How long a request searches before it returns what it has, in milliseconds. */
    budget_ms: number
    /** Searches of a user per minute, in each process. */
    per_user_per_min: number
  }
  attachments: {
    /**
     * Whether messages can have files. The command line turns it on unless this is false; a host that wants it sets
     * true. Without it, the routes of files are 404.
     */
    enabled?: boolean
    /**
     * Where the bytes of files are. Default: the folder files beside a SQLite file, else fs:./data/files. Or another
     * fs:<folder>, or s3://<bucket>/<prefix>?endpoint=…&region=…&path_style=false: without an endpoint Amazon S3,
     * without a region AWS_REGION or us-east-1, and with path_style=false the bucket is in the host name. The keys are
     * in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment, with AWS_SESSION_TOKEN for temporary ones;
     * those of backup.s3 and files of secrets are not used.
     */
    storage?: string
    /** Maximum size of a file. */
    max_bytes: number
    /**
     * Media types that are allowed, as the service recognises them from the first bytes; what it does not recognise is
     * application/octet-stream. Empty: all.
     */
    types: string[]
    /** Maximum size of all files of a user together, with deleted ones until their bytes are gone; 0 sets no limit. */
    per_user_bytes: number
    /** Maximum size of all files together; beyond it uploads are refused as on a full disk; 0 sets no limit. */
    total_bytes: number
    /**
     * What uploads leave free on the disk of a folder of files: below it they are 507, while posts go on. Default: 512
     * MiB, or 5 % of the disk if that is less. 0 reserves nothing.
     */
    reserve_bytes?: number
    /** Remove place, device and other EXIF data of JPEG pictures. */
    strip_metadata: boolean
    /** How long the files of a deleted message are kept, so that it can be restored with them. */
    deleted_days: number
    /**
     * How long the bytes of a file that nothing refers to any more are kept: a backup of the database and then of the
     * files is complete if it takes less.
     */
    grace_hours: number
    /**
     * What a process holds in memory of the files that are being uploaded and read: beyond it uploads wait, and
     * readers get pieces of 64 KiB.
     */
    max_buffered_bytes: number
    /**
     * Maximum number of files, and of thumbnails, that a user reads at once from a process; further ones wait for up
     * to 30 seconds, and then are 429.
     */
    max_reads_per_user: number
    /** How long a link to a file is valid. */
    link_seconds: number
    /** Pictures with more pixels get no thumbnail: to decode one takes memory for all of them. */
    thumbnail_pixels: number
    /**
     * With a scanner: before, a file can be attached once it was found clean; after, it can be attached at once, and
     * read once it was found clean.
     */
    scan: 'before' | 'after'
    /** What becomes of a file that the scanner could not check in three attempts. */
    scan_failure: 'refuse' | 'accept'
  }
  notifications: {
    /** Of which messages participants are notified who have not chosen a level: in direct conversations it is all. */
    default_level: 'all' | 'mentions' | 'none'
    /** How long notifications are kept; older ones leave the inbox. */
    keep_days: number
  }
  limits: {
    /** Maximum depth of replies; the root of a thread has depth 0. */
    max_depth: number
    /** Maximum length of a message, in UTF-8. */
    message_bytes: number
    /** Number of stored revisions of an edited message; a further edit drops the oldest. */
    revisions_per_message: number
    /** Maximum number of pinned messages of a conversation. */
    pins: number
    /** Maximum number of different emoji with which a message has reactions. */
    reactions_per_message: number
    /** Conversations with more participants do not have @all, which notifies every participant at once. */
    mention_all: number
  }
  assistant: {
    /** Provider of the answers: echo repeats the question, openai is any server with the API of OpenAI. */
    provider: 'echo' | 'openai'
    /** URL of the model server, up to /v1; default: https://api.openai.com/v1. */
    base_url?: string
    /** Bearer token for the model server; many local servers need none. */
    api_key?: string
    /** Name of the model on its server. Required for openai. */
    model?: string
    /** Instructions for the model, sent before the thread. */
    system_prompt?: string
    /**
     * Whether a model of openai gets the pictures of the thread: the newest 8, up to 8 MiB together. Otherwise it gets
     * the names of files only.
     */
    images: boolean
    /** Additional headers for the model server, each as "Name: value". */
    headers: string[]
    /** An answer that takes longer fails. */
    timeout_seconds: number
    /** Time that answers have to finish when the service stops. */
    drain_seconds: number
    /** Maximum size of the thread sent to the assistant; the oldest messages are left out, the question is always sent. */
    context_bytes: number
    /** Concurrent answers per user, in all processes; 429 beyond. */
    max_running_per_user: number
    /** Concurrent answers, in all processes; 503 beyond. */
    max_running: number
    /** Maximum length of an answer, in UTF-8; a longer one fails. */
    answer_bytes: number
  }
  audit: {
    /** How long entries of the audit log are kept; false keeps them forever. */
    retention_days: number | false
  }
  metrics: {
    /** Bearer token that /metrics requires; by default none is required. */
    token?: string
    /** Former values of metrics.token, which /metrics still takes, until each monitoring system has the new one. */
    previous_tokens: string[]
  }
  well_known: {
    /**
     * Documents under /.well-known/, by path: a text, or a table with body and content_type. Also as a list of tables
     * with path, body and content_type.
     */
    entries: WellKnownEntry[]
  }
  log: {
    /** Lowest level to log. */
    level: 'silent' | 'error' | 'warn' | 'info' | 'debug'
    /** json is one object a line, pretty is for people; auto is pretty on a terminal and json elsewhere. */
    format: 'auto' | 'json' | 'pretty'
    /** Requests to log: all; problems, those answered with 5xx or after more than a second; or none. */
    requests: 'all' | 'problems' | 'none'
  }
}

/** A document under `/.well-known/`, as it is served. */
export interface WellKnownEntry {
  /** The path after `/.well-known/`. */
  path: string
  content_type: string
  body: string
}

/** The two notations for documents: a list, or a table by path, in which a text alone is a body. */
export type WellKnownInput = (WellKnownContent & { path: string })[] | Record<string, string | WellKnownContent>

/** A document as it may be written. */
export interface WellKnownContent {
  content_type?: string
  body: string
}
