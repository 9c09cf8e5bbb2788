"""Whether a name (key, variable, flag) says that its value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Nature = Literal["", "secret", "password"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_PASSWORDS = _words("""
    password passwd passphrase passcode pwd passwort kennwort pass pw userpassword
    dbpassword mypassword rootpassword adminpassword requirepass masterpass userpass dbpass
    rootpw bindpw dbpwd storepass keypass psk sshpass pgpassword mysqlpwd smtppass
""")
_SECRETS = _words("""
    secret secrets token apikey apitoken apisecret authtoken accesstoken refreshtoken
    idtoken clientsecret appsecret secretkey accesskey privatekey authkey masterkey
    signingkey encryptionkey sessiontoken bearer credential credentials cred creds jwt pat
    auth authorization salt pepper dsn webhooksecret sessionsecret cookiesecret
    accesskeysecret secretaccesskey servicekey accountkey storagekey sharedkey licensekey
    authtok skey usertoken bottoken deploytoken jobtoken npmtoken githubtoken gitlabtoken
    slacktoken identitytoken registrytoken securitytoken mfasecret totpsecret oauthtoken
    oauthsecret personalaccesstoken
    connectionstring xapikey cookie setcookie
""")
_KEY_BEFORE = _words("""
    api access private secret auth master signing encryption encrypt service account storage
    shared license subscription functions admin app application client consumer deploy
    deployer hmac aes crypt crypto cipher ingest ingestion write server live prod production test
    sandbox wallet wrapping root rsa ssh host tls ssl pgp gpg webhook openai anthropic
    gemini google github gitlab stripe aws azure algolia rest sdk integration user org
    project dev decryption preshared groq mistral
""")
"""`key` alone says nothing; after one of these words it does."""

_SERVICES = _words("""
    abuseipdb adafruit adyen airtable alchemy algolia alibaba aliyun amplitude anyscale apify asana
    assemblyai atlassian auth0 bitbucket bittrex binance box braintree brave brevo browserbase
    bugsnag bybit cerebras checkout circleci civo clickup cloudflare cf codecov cohere coinbase
    confluent contentful dashscope databricks datadog datagov dd deepgram deepl deepseek
    digitalocean discord disqus droneci dropbox elastic elasticsearch elevenlabs etsy exa expo
    facebook fal fastly figma finnhub firecrawl fireworks flickr freshbooks freshdesk geocode
    geocoding gitea gitter glm gocardless grafana grok heroku hetzner hf honeycomb hubspot
    huggingface ibm infura intercom ipinfo jina jira jumpcloud kagi kimi klaviyo kucoin
    langchain langfuse langsmith launchdarkly linear linkedin linode looker mailchimp mailgun
    mandrill mapbox maps mattermost meilisearch meraki minimax miro mixpanel mongodb moonshot
    netlify newrelic newsapi notion nvidia nytimes okta ollama openrouter openweather
    openweathermap opsgenie pagerduty paypal perplexity pexels pinecone plaid planetscale
    polymarket posthog postmark qdrant qwen rainforest rapidapi razorpay recaptcha hcaptcha
    turnstile replicate resend rollbar runpod runway scaleway scraperapi segment sendgrid
    sentry serpapi serper shodan shopify slack snyk sonar square stability supabase tavily
    telegram telnyx tmdb together travis travisci twilio twitch twitter typesense unsplash
    upstash vercel virustotal voyage vultr wandb weather weatherapi weatherstack weights
    woocommerce xai youtube zai zapi zhipu zoho
""")
"""The same, where an account has one key: `deepl_key`."""

_AFTER = _words("""
    id ids name names count counts url uri urls file files filename path paths dir ttl
    expiry expires expiration expire age length len size limit limits max min type types
    kind format field fields policy policies hint label labels prompt placeholder regex
    pattern rules rule required optional enabled disabled valid invalid verified reset
    change changed error errors message messages status state index offset position budget
    usage used cost costs price counter stats rate per hash hashed digest algorithm algo alg
    method mode version provider source store manager service endpoint header headers param
    parameter arn ref reference scope scopes claims issuer audience at time date seconds ms
    minutes hours days interval timeout env var variable input inputs form page screen view
    component strength score checker validator generator helper util utils class func
    function callback handler list map set group groups role roles user username email owner
    exists present missing prefix suffix lookup column table row schema icon color button
    link title text description desc help doc docs example examples encoding encoded decoder
    encoder stream bucket address domain host port region zone tag tags title total window
    budget ratio limit kwargs args number num sequence seq embedding embeddings logprobs
    probs bias weights mask tree kind value_from valuefrom configured requirements history
    request response schema comment literal keyword operator punctuation escape cryptogram
    attempts lifetime validity chars characters alphabet charset bits bytes grant flow
""")
"""After a secret's word, these say that the value is something else."""

_BEFORE = _words("""
    max min next page prev previous continuation cursor sync cancel cancellation stop eos
    bos pad unk cls sep mask special input output prompt completion total num count start
    end first last public primary foreign sort partition cache no is has use with without
    need needs require requires show hide forgot forget reset invalid missing wrong empty
    each per cached reasoning thinking string lexer parse parsed parser current peek
    lookahead id idempotency request window batch resume upload nextpage csrf xsrf forgery
    antiforgery verification abort basic starting update action lock confirmation unit
    unreserved pattern stopping text image audio video code pagination watermark delta
    change
""")
"""Before a secret's word, these say the same (`next_token`, `public_key`)."""

_ANYWHERE_BEFORE = _words("public next page pagination continuation")

_JOINED = re.compile(
    r"(?:password|passwd|passphrase|(?:client|app|api|shared|webhook|session|jwt|auth|oauth)secret"
    r"|(?:api|access|secret|private|auth|master|encryption|signing)key"
    r"|(?:auth|access|refresh|api|bot|session|bearer|personal|deploy|service|private)token)$"
)


@lru_cache(maxsize=8192)
def nature(name: str) -> Nature:
    """What a value of this name would be: a password, another secret, or nothing of the kind."""
    if len(name) > 120 or "[redacted:" in name:  # a mask in a key says nothing of its value
        return ""
    words = [word.lower() for word in _WORD.findall(name)]
    if len(words) > 2 and words[-2].isdigit():  # `api_v2_key`, `token2_key`
        del words[-3 if words[-3] == "v" and len(words) > 3 else -2 : -1]
    for index in range(len(words) - 1, -1, -1):
        found = _word_nature(words, index)
        if found:
            return found if _stands(words, index) else ""
        if words[index] in _AFTER:
            return ""
    return ""


def _word_nature(words: list[str], index: int) -> Nature:
    word = words[index]
    if word in _PASSWORDS:
        return "password"
    if word in _SECRETS:
        return "secret"
    if word in ("key", "keys"):
        before = words[index - 1] if index else ""
        known = before in _KEY_BEFORE or before in _SERVICES
        return "secret" if known and word == "key" else ""
    joined = _JOINED.search(word)
    if joined is not None:
        return "password" if joined[0].startswith("pass") else "secret"
    return ""


def _stands(words: list[str], index: int) -> bool:
    before = words[index - 1] if index else ""
    if before in _BEFORE or not _ANYWHERE_BEFORE.isdisjoint(words[:index]):
        return False
    if before == "client" and words[index] == "token":  # names a try, not a right
        return False
    return not any(word in _AFTER for word in words[index + 1 :])
