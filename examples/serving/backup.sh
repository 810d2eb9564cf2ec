#!/bin/sh
# Backs up the service of docs/serving.md: its jobs, and an archive of its documents, keys, settings and certificate.
# Deletes backups after 30 days. Copy this file to /etc/cron.daily/factloop.
set -e
folder=/var/backups/factloop
now=$(date +%F-%H%M%S)
install -d -m 700 $folder
cd /srv/factloop
/opt/factloop/bin/factloop backup "$folder/$now.jobs"
tar -czf "$folder/$now.tgz" -C /srv --exclude=factloop/jobs factloop
find $folder -type f -mtime +30 -delete
